// A plugin for Placet: answers JSON-RPC 2.0 on its standard streams, one message a line.
const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");

const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, "plugin.json"), "utf8"));
const MOST = 100;
let folders = [];

function initialize({ access }) {
  folders = access.reads;
  const tools = manifest.capabilities.map((tool) => [tool.name, tool.input_schema]);
  return { protocol: 1, tools: Object.fromEntries(tools) };
}

function call({ tool, input }) {
  if (tool !== "search") throw new Error(`there is no tool ${tool}`);
  return { found: folders.flatMap((folder) => search(folder, input.text)).slice(0, MOST) };
}

function search(folder, text) {
  const notes = fs.readdirSync(folder).filter((name) => name.endsWith(".md")).sort();
  return notes.flatMap((name) => {
    const lines = fs.readFileSync(path.join(folder, name), "utf8").split("\n");
    return lines.flatMap((line, index) =>
      line.includes(text) ? [{ file: name, line: index + 1, text: line }] : [],
    );
  });
}

const methods = { initialize, call };

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return; // `cancel`: every call here ends by itself, and soon
  const answer = { jsonrpc: "2.0", id };
  try {
    answer.result = methods[method](params);
  } catch (error) {
    answer.error = { code: -32000, message: error.message };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
