/**
 * `node rtdb-lite/src/main.ts [--host 127.0.0.1] [--port 9000] [--functions_emulator_host H
 * --functions_emulator_port P]`, with the flags that firebase-tools passes to Google's emulator.
 */
import { parseArgs } from 'node:util';
import { startServer } from './server.ts';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '9000' },
    functions_emulator_host: { type: 'string', default: '127.0.0.1' },
    functions_emulator_port: { type: 'string' },
    single_project_mode: { type: 'string' },
  },
});

const functionsPort = values.functions_emulator_port;
const server = await startServer({
  host: values.host,
  port: Number(values.port),
  functionsUrl: functionsPort === undefined ? null : `http://${values.functions_emulator_host}:${functionsPort}`,
});
console.log(`rtdb-lite listening on ${values.host}:${server.port}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, async () => {
    await server.close();
    process.exit(0);
  });
