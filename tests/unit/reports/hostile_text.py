"""What somebody might write into a trace so that a report does more than show it."""

from __future__ import annotations

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![](https://evil.example/pixel.png)",
    "[click](javascript:alert(1))",
    "https://evil.example and www.evil.example",
    "| a | b |\n|---|---|\n| c | d |",
    "`code` ``more`` **bold** _em_ ~~gone~~",
    "</code></sub></td><h1>big</h1>",
    "# heading",
    "- item",
    "> quote",
    "&lt;b&gt; &#60;b&#62;",
    "```\nfence",
    "line\n\n## two",
    "$x^2$",
    "\\| escaped \\` pipe",
]
