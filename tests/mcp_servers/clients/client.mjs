// A client of the official SDKs in TypeScript, for tests: does what it is told, and says what came
// of it.
//
//     node client.mjs '{"package": …, "modules": …, "steps": [[METHOD, PARAMS], …], …}'
//
// `package` is `sdk` or `client`, `modules` the folder that has them, `mode` how `client` negotiates
// the revision. The server is `command` with `args`, or at `url` with a `token`. `answer` is what the
// user enters into every form. A line of JSON is printed for each step, and one before them.

import { createRequire } from 'node:module';

const told = JSON.parse(process.argv[2]);
const require = createRequire(`${told.modules}/`);

const parts = {
  sdk: () => ({
    ...require('@modelcontextprotocol/sdk/client/index.js'),
    ...require('@modelcontextprotocol/sdk/client/stdio.js'),
    ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    elicitation: require('@modelcontextprotocol/sdk/types.js').ElicitRequestSchema,
  }),
  client: () => ({
    ...require('@modelcontextprotocol/client'),
    ...require('@modelcontextprotocol/client/stdio'),
    elicitation: 'elicitation/create',
  }),
};

const { Client, StdioClientTransport, StreamableHTTPClientTransport, elicitation } =
  parts[told.package]();
const asked = [];
const client = new Client(
  { name: 'test', version: '1' },
  {
    capabilities: told.answer ? { elicitation: {} } : {},
    ...(told.mode ? { versionNegotiation: { mode: told.mode } } : {}),
  },
);
if (told.answer) {
  client.setRequestHandler(elicitation, async (request) => {
    asked.push(request.params.message);
    return told.answer;
  });
}

function transport() {
  if (told.url === undefined) {
    const { command, args, cwd, env } = told;
    return new StdioClientTransport({ command, args, cwd, env, stderr: 'ignore' });
  }
  const headers = { Authorization: `Bearer ${told.token}` };
  return new StreamableHTTPClientTransport(new URL(told.url), { requestInit: { headers } });
}

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

await client.connect(transport());
const version = client.getNegotiatedProtocolVersion?.();
say({ capabilities: client.getServerCapabilities(), version });
for (const [method, params] of told.steps) {
  try {
    say({ result: await client[method](params), asked: asked.splice(0) });
  } catch (error) {
    say({ error: error.message, code: error.code, data: error.data, asked: asked.splice(0) });
  }
}
await client.close();
process.exit(0);
