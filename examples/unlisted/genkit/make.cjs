// Run Genkit's generate() with tools and print the messages of its response.
const { genkit, z } = require("genkit");
const { openAICompatible } = require("@genkit-ai/compat-oai");

const run = JSON.parse(process.argv[2]);
const ai = genkit({ plugins: [openAICompatible({ name: "scripted", apiKey: "none", baseURL: run.url })] });
const kinds = { string: z.string(), integer: z.number(), boolean: z.boolean(), array: z.array(z.string()) };

const tools = Object.entries(run.tools).map(([name, { description, parameters }]) => {
  const shape = Object.fromEntries(Object.entries(parameters).map(([key, type]) => [key, kinds[type]]));
  return ai.defineTool({ name, description, inputSchema: z.object(shape) }, async (input) =>
    run.results[JSON.stringify([name, input])],
  );
});

ai.generate({ model: `scripted/${run.model}`, system: run.instructions, prompt: run.task, tools, maxTurns: 10 }).then(
  (response) => {
    process.stdout.write(JSON.stringify({ messages: response.messages }));
    process.exit(0);
  },
);
