// @ts-check
import { renameSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { host } from '../emulators/ports.mjs';
import { devDirectory, projectId, root } from '../project.mjs';

/**
 * @typedef {object} Endpoint everything that local programs need to call Muster
 * @property {string} mcpUrl
 * @property {string} origin Muster's root, for clients that sign in; MCP is at `<origin>/mcp`
 * @property {string} consoleUrl
 * @property {string} projectId
 * @property {import('./tokens.mjs').Tokens} tokens
 * @property {import('../emulators/hosting.mjs').SeededPerson[]} people who can sign in
 * @property {Record<string, string>} emulators
 * @property {string} clockFile file that `npm run clock` writes
 */

/** @param {import('../processes/run.mjs').Run} run */
function pathOf(run) {
  return `${devDirectory}/endpoint${run.suffix}.json`;
}

/**
 * Writes `.dev/endpoint.json`, which exists only while the endpoint is running.
 * @param {import('../processes/run.mjs').Run} run
 * @param {import('../emulators/suite.mjs').Suite} suite
 * @param {import('./tokens.mjs').Seeded} seeded
 * @returns {Endpoint}
 */
export function writeEndpoint(run, { ports, env, ui }, { tokens, people }) {
  const named = {
    firestore: ports.firestore,
    auth: ports.auth,
    database: ports.database,
    functions: ports.functions,
    hosting: ports.hosting,
    tasks: ports.tasks,
    ...(env.PUBSUB_EMULATOR_HOST !== undefined && { pubsub: ports.pubsub }),
  };
  const emulators = Object.entries({ ...named, ...(ui && { ui: ports.ui }) });
  /** @type {Endpoint} */
  const endpoint = {
    mcpUrl: env.MUSTER_MCP_URL ?? '',
    origin: env.MUSTER_ORIGIN ?? '',
    consoleUrl: env.MUSTER_CONSOLE_URL ?? '',
    projectId,
    tokens,
    people,
    emulators: Object.fromEntries(emulators.map(([name, port]) => [name, `${host}:${port}`])),
    clockFile: env.MUSTER_CLOCK_FILE ?? '',
  };
  const path = pathOf(run);
  run.removeAtEnd(path);
  // The file contains credentials, so only its owner can read it. Renaming prevents partial reads.
  writeFileSync(`${path}.new`, `${JSON.stringify(endpoint, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return endpoint;
}

/**
 * @param {Endpoint} endpoint @param {import('../processes/run.mjs').Run} run
 * @param {{ demoModels: boolean }} options
 */
export function announce(endpoint, run, { demoModels }) {
  const lines = [
    '',
    ...connectionHelp(endpoint),
    '',
    `Other accounts and credentials: ${relative(root, pathOf(run))}`,
    `Emulators: ${Object.entries(endpoint.emulators)
      .map((pair) => pair.join(' '))
      .join(', ')}`,
    `Their complete log: .dev/emulators${run.suffix}.log`,
    ...(demoModels ? ['claude and gemini are demo models: THEIR ANSWERS ARE CANNED, no model is called.'] : []),
    'Ctrl-C stops everything. No data is kept.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Returns the steps to connect. People sign in, and machines use an API key. @param {Endpoint} endpoint */
export function connectionHelp({ origin, consoleUrl, tokens, people: [person] }) {
  const add = `  claude mcp add --transport http muster ${origin}/mcp`;
  const credential = tokens.worker1 ?? tokens.leader ?? '<credential>';
  return [
    'Muster is ready. Next steps:',
    '',
    `1. Open ${consoleUrl} and sign in${person ? ` as ${person.name}` : ''}.`,
    '',
    '2. Connect Claude Code:',
    add,
    ...(person
      ? [
          '  In Claude Code, type /mcp, choose muster, then Authenticate, and on the page, click',
          `  "Continue as ${person.name}" (${person.email}, password ${person.password})`,
        ]
      : []),
    '  Or start Claude Code in this folder, where .mcp.json connects it as the leader.',
    '',
    '3. Enter: "Claim a task, do it and complete it." The console shows the progress.',
    '',
    'For machines, with the API key of worker1:',
    `${add} --header "Authorization: Bearer ${credential}"`,
  ];
}
