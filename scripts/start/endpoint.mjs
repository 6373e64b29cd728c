// @ts-check
import { renameSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { host } from '../emulators/ports.mjs';
import { devDirectory, projectId, root } from '../project.mjs';

/**
 * @typedef {object} Endpoint what a program on this machine needs to call Muster
 * @property {string} mcpUrl
 * @property {string} origin whose root is Muster's, as a client that signs in needs it: MCP is at `<origin>/mcp`
 * @property {string} consoleUrl where people see and steer
 * @property {string} projectId
 * @property {import('./tokens.mjs').Tokens} tokens
 * @property {import('../emulators/hosting.mjs').SeededPerson[]} people who can sign in
 * @property {Record<string, string>} emulators
 * @property {string} clockFile by which `npm run clock` moves the time
 */

/** @param {import('../processes/run.mjs').Run} run */
function pathOf(run) {
  return `${devDirectory}/endpoint${run.suffix}.json`;
}

/**
 * Writes `.dev/endpoint.json`, which is there exactly as long as the endpoint is.
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
  // It holds credentials, though only of emulators; and nobody may read half of it.
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
    ...waysIn(endpoint),
    '',
    `Other people and credentials: ${relative(root, pathOf(run))}`,
    `Emulators: ${Object.entries(endpoint.emulators)
      .map((pair) => pair.join(' '))
      .join(', ')}`,
    `Everything they log: .dev/emulators${run.suffix}.log`,
    ...(demoModels
      ? ['claude and gemini are played by demo models: THEIR ANSWERS ARE CANNED, no model is asked.']
      : []),
    'Ctrl-C stops it all; nothing is kept.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** People sign in, machines have a key. @param {Endpoint} endpoint */
export function waysIn({ origin, consoleUrl, tokens, people: [person] }) {
  const add = `  claude mcp add --transport http muster ${origin}/mcp`;
  const credential = tokens.worker1 ?? tokens.leader ?? '<credential>';
  return [
    'Muster is ready. What to do next:',
    '',
    `1. See: open ${consoleUrl} and sign in${person ? ` as ${person.name}` : ''}.`,
    '',
    '2. Connect Claude Code:',
    add,
    ...(person
      ? [
          '  in Claude Code: /mcp, choose muster, Authenticate, and sign in as',
          `  ${person.email} with the password ${person.password}`,
        ]
      : []),
    '  or start it in this folder: .mcp.json connects it as the leader',
    '',
    '3. Say: "Claim a task, do it and complete it." The console shows it happen.',
    '',
    'For machines, with a key (worker1):',
    `${add} --header "Authorization: Bearer ${credential}"`,
  ];
}
