/**
 * Module that the function's process loads first. It reports the processor time and memory of each numbered request
 * to the parent process. Requests must be sequential. Source: proc_pid_status(5), VmHWM; proc(5), clear_refs.
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import { IncomingMessage, Server } from 'node:http';
import { NUMBER_HEADER } from './cost.ts';

interface Beginning {
  readonly number: number;
  readonly cpu: NodeJS.CpuUsage;
  readonly kibibytes: number;
}

const KEEP_ALIVE_MS = 120_000;
let beginning: Beginning | undefined;

subscribe('http.server.request.start', (event) => {
  beginning = undefined;
  if (typeof event !== 'object' || event === null || !('request' in event)) return;
  // While the function loads its code, Node's default timeout of 5 s would close connections with pending requests.
  if ('server' in event && event.server instanceof Server) event.server.keepAliveTimeout = KEEP_ALIVE_MS;
  const { request } = event;
  if (!(request instanceof IncomingMessage)) return;
  const number = Number(request.headers[NUMBER_HEADER]);
  if (Number.isNaN(number)) return;
  // Resets the process's peak memory in the kernel, so that memory that a request allocates and frees counts too.
  writeFileSync('/proc/self/clear_refs', '5');
  beginning = { number, cpu: process.cpuUsage(), kibibytes: peakKibibytes() };
});

subscribe('http.server.response.finish', () => {
  if (beginning === undefined) return;
  const { user, system } = process.cpuUsage(beginning.cpu);
  const peak = peakKibibytes();
  process.send?.({
    number: beginning.number,
    cpuMs: (user + system) / 1000,
    grownMebibytes: (peak - beginning.kibibytes) / 1024,
    peakMebibytes: peak / 1024,
  });
  beginning = undefined;
});

// Otherwise, the channel to the parent process would keep this process running.
process.channel?.unref();

function peakKibibytes(): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
}
