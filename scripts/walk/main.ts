/** Prints what one call of a tool enters: see run.mjs, which starts the emulators and loads the probes. */
import './quiet.ts';
import { parseArgs } from 'node:util';
import { nearestMethods, wireName } from '../../functions/src/mcp/names.ts';
import { fullName } from '../../functions/src/mcp/tool.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { listed } from './listing.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, check: { type: 'boolean', default: false } },
});
const [asked = ''] = positionals;

/** By the name that `/mcp` lists and by the full one. */
const tools = new Map(
  toolsets.flatMap(({ name: toolset, tools }) =>
    tools.map(({ name }) => [fullName(toolset, name), wireName(toolset, name, 'prefixed')] as const),
  ),
);
const tool = tools.get(asked) ?? [...tools.values()].find((name) => name === asked);

if (tool === undefined) {
  const near = nearestMethods(asked, [...tools.keys()]).map((name) => tools.get(name));
  const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'docs/reference lists the tools.';
  console.error(`There is no tool "${asked}". ${hint}`);
  process.exit(1);
}
if (values.check) process.exit(0);

const { callOnce } = await import('./call.ts');
const { walk, refusal } = await callOnce(tool);
if (refusal !== undefined) console.error(`The call was refused, so the list ends early: ${refusal}`);
const result = listed(walk);
console.log(
  values.json ? JSON.stringify({ tool, ...result.data }, null, 2) : `${tool} enters\n\n${result.text}`,
);
process.exit(refusal === undefined ? 0 : 1);
