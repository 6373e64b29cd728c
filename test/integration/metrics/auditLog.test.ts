/** The log entry of a call contains what an operator needs, but no text from the caller's arguments. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { Log } from '../../../functions/src/kernel/ports.ts';
import { callTool } from '../../../functions/src/mcp/call.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { LocalModels } from '../../support/models/server.ts';
import { authenticatorOf, personOf } from '../../support/principals.ts';
import { directory } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';
import { withModels } from '../orchestration/examples.ts';

/** Text that occurs only in the caller's input. */
const SENT = 'q7hush7q';

interface Entry {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Appends the text SENT to each free text in the arguments. */
function marked(value: unknown): unknown {
  if (typeof value === 'string') return /^[a-z-]+$/.test(value) ? value : `${value} ${SENT}`;
  if (Array.isArray(value)) return value.map(marked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, marked(one)]));
}

describe('log entries of calls', () => {
  const models = new LocalModels();
  const team: Team = new Team(withModels(models, () => team.app));

  before(() => models.start());
  after(() => models.stop());

  const entriesOf = async (principal: Principal, args: (example: object) => object): Promise<Entry[][]> => {
    const calls = toolsets.flatMap((toolset) =>
      toolset.tools.map((tool) => ({ toolset: toolset.name, tool, scope: tool.scope ?? toolset.scope ?? 'workspace' })),
    );
    return Promise.all(
      calls.map(async ({ toolset, tool, scope }) => {
        const entries: Entry[] = [];
        const note = (event: string, fields: Entry['fields']) => void entries.push({ event, fields });
        const log: Log = { info: note, warn: note, error: note };
        const ports = { ...team.app.calls, authenticator: authenticatorOf(principal), log };
        const exchange = {
          principal,
          credential: `mk_key.${SENT}`,
          workspace: team.workspace,
          requestId: `request of ${fullName(toolset, tool.name)}`,
          baseUrl: 'https://muster.example/mcp',
          directory,
          disconnectSignal: () => new AbortController().signal,
          timeLeft: () => 50_000,
        };
        await callTool(ports, exchange, { toolset, tool, scope }, { args: { ...args(tool.example) } });
        return entries;
      }),
    );
  };

  it('are written once per call, with every field', async () => {
    const principal = team.leader;
    for (const entries of await entriesOf(principal, (example) => example)) {
      const [entry, ...others] = entries.filter(({ event }) => event === 'call');
      assert.ok(entry !== undefined && others.length === 0);
      const { tool, outcome, reason, milliseconds, waited = 1, ...rest } = entry.fields;
      assert.deepEqual(rest, {
        requestId: `request of ${tool}`,
        principal: principal.uid,
        agentId: principal.agent_id,
        workspace: team.workspace,
      });
      assert.match(String(outcome), /^[A-Z_]+$/);
      assert.ok(reason === undefined || /^[A-Z_]+$/.test(String(reason)), String(reason));
      assert.ok(Number.isInteger(milliseconds), String(milliseconds));
      assert.ok(Number.isInteger(waited) && Number(waited) > 0, String(waited));
    }
  });

  it('contain no arguments and no credential', async () => {
    const viewer: Principal = personOf('person', 'viewer');
    for (const principal of [team.leader, viewer])
      for (const args of [
        (example: object) => ({ ...example, idempotency_key: SENT }),
        (example: object) => marked(example) as object,
        (example: object) => ({ ...example, [SENT]: SENT }),
      ]) {
        const entries = (await entriesOf(principal, args)).flat();
        for (const { event, fields } of entries) {
          const { error, ...rest } = fields;
          const text = `${event} ${JSON.stringify(rest)} ${error instanceof Error ? error.stack : error}`;
          assert.ok(!text.includes(SENT), text);
        }
      }
  });
});
