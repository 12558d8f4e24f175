// Run a Mastra agent and print the steps of its result.
const { Agent } = require("@mastra/core/agent");
const { createTool } = require("@mastra/core/tools");
const { createOpenAICompatible } = require("@ai-sdk/openai-compatible");
const { z } = require("zod");

const run = JSON.parse(process.argv[2]);
const kinds = { string: z.string(), integer: z.number(), boolean: z.boolean(), array: z.array(z.string()) };

const tools = Object.fromEntries(
  Object.entries(run.tools).map(([id, { description, parameters }]) => {
    const shape = Object.fromEntries(Object.entries(parameters).map(([key, type]) => [key, kinds[type]]));
    const keys = Object.keys(parameters);
    const execute = async ({ context }) => {
      const given = Object.fromEntries(keys.map((key) => [key, context[key]]));
      return run.results[JSON.stringify([id, given])];
    };
    return [id, createTool({ id, description, inputSchema: z.object(shape), execute })];
  }),
);

const provider = createOpenAICompatible({ name: "scripted", baseURL: run.url, apiKey: "none" });
const agent = new Agent({ name: "desk", instructions: run.instructions, model: provider(run.model), tools });

agent.generate(run.task, { maxSteps: 10 }).then((result) => {
  process.stdout.write(JSON.stringify(result.steps));
});
