// tests/cli/agents/sdk/session.mjs - a session of a client that is not ours with `apo mcp`, printed as markdown: from the
// first message to the verdict on a kernel.
//
// node session.mjs PACKAGES CLIENT PROGRAM FILE [WORD=VALUE...]
//   PACKAGES  a folder in which package.json was installed
//   CLIENT    sdk (initialize, 2025-11-25) or client (2026-07-28)
//   FILE      a candidate for family copy, below the working folder
//   the rest  more arguments of the tool evaluate
// The clients hold every structured answer against the schema of its tool, and fail where it does not fit.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';

const [packages, name, program, file, ...more] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(packages), 'session.js'));
const longest = 600;

// A line of the transcript: long texts are cut in the middle.
function show(direction, message) {
  const text = JSON.stringify(message);
  const shown = text.length > longest ? `${text.slice(0, longest - 100)} ... ${text.slice(-100)}` : text;
  console.log(`${direction} ${shown}`);
}

function tell(text) {
  console.log('```\n\n' + text + '\n\n```');
}

// A subclass, so that the newer client discovers the server on this very connection.
function showing(Transport) {
  return class extends Transport {
    constructor(server) {
      super(server);
      let receive;
      Object.defineProperty(this, 'onmessage', {
        get: () => receive && ((message, ...rest) => {
          show('<-', message);
          receive(message, ...rest);
        }),
        set: (handler) => { receive = handler; },
      });
    }
    async send(message, ...rest) {
      show('->', message);
      return super.send(message, ...rest);
    }
  };
}

function connectible() {
  const old = name === 'sdk';
  const { Client } = require(old ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
  const { StdioClientTransport } =
    require(old ? '@modelcontextprotocol/sdk/client/stdio.js' : '@modelcontextprotocol/client/stdio');
  const options = old ? {} : { versionNegotiation: { mode: { pin: '2026-07-28' } } };
  const client = new Client({ name: 'session', version: '1.0.0' }, options);
  const transport = new (showing(StdioClientTransport))({
    command: program, args: ['mcp', '--answer-within', '5s'], env: process.env, stderr: 'inherit' });
  return { client, transport };
}

async function finished(client, tool, args) {
  let result = await client.callTool({ name: tool, arguments: args });
  while (result.structuredContent?.state === 'running') {
    result = await client.callTool({ name: 'wait', arguments: { job: result.structuredContent.job, seconds: 20 } });
  }
  return result;
}

const { client, transport } = connectible();
console.log(`## A session of ${name === 'sdk' ? '@modelcontextprotocol/sdk' : '@modelcontextprotocol/client'} with apo mcp`);
console.log('\nThe client connects.\n\n```');
await client.connect(transport);
assert.equal(client.getServerVersion().name, 'apo');
assert.match(client.getInstructions(), /evaluate/);

tell('It lists what there is.');
const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === 'evaluate'));
const { resources } = await client.listResources();
assert.ok(resources.some((resource) => resource.uri === 'apo://lessons'));
const { resourceTemplates } = await client.listResourceTemplates();
assert.ok(resourceTemplates.length >= 3);
const { prompts } = await client.listPrompts();
const prompt = await client.getPrompt({ name: prompts[0].name, arguments: { family: 'copy', workload: 'n4k' } });
assert.match(prompt.messages[0].content.text, /copy/);

tell('It reads a source, and is told of one that is not there.');
const source = await client.readResource({ uri: 'apo://source/copy/simple' });
assert.match(source.contents[0].text, /apo:variant/);
await assert.rejects(client.readResource({ uri: 'apo://source/copy/nope' }), /Resource not found/);

tell('It makes a mistake.');
const mistake = await client.callTool({ name: 'list', arguments: { famly: 'copy' } });
assert.equal(mistake.isError, true);

tell('It has a candidate judged.');
const extra = Object.fromEntries(more.map((one) => one.split('=', 2)));
const judged = await finished(client, 'evaluate', { path: file, family: 'copy', workload: 'n4k', ...extra });
assert.ok(!judged.isError, judged.content[0].text);
const verdict = judged.structuredContent.result.verdict;

tell('It asks for another judgement and takes that back.');
const stop = new AbortController();
const taken = client.callTool({ name: 'compare', arguments: { a: 'copy/simple', b: 'copy/memcpy' } },
                              ...(name === 'sdk' ? [undefined] : []), { signal: stop.signal });
setTimeout(() => stop.abort('not needed any more'), 300);
await assert.rejects(taken);
assert.equal((await client.callTool({ name: 'list', arguments: { family: 'copy' } })).isError, false);

await client.close();
console.log('```\n');
console.log(`verdict: ${verdict}`);
