/** How many requests a second a function answers when it is given as many as it can take. */
import autocannon from 'autocannon';
import type { FunctionServer } from '../servers/functionServer.ts';

export interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether an answer is right. Every one must be. */
  readonly isRight: (answer: string) => boolean;
}

/** Enough to keep one process busy; more only queue, and cost the machine's other core memory and time. */
const CONNECTIONS = 16;

export interface Rate {
  readonly perSecond: number;
  /** Of the function's process. */
  readonly cpuMicroseconds: number;
}

export async function measureRate(
  server: FunctionServer,
  { headers, body, isRight }: Request,
  seconds: number,
): Promise<Rate> {
  const { url } = server;
  const before = server.cpuSeconds();
  const result = await autocannon({
    url,
    method: 'POST',
    headers: { ...headers },
    body,
    verifyBody: (answer) => isRight(String(answer)),
    connections: CONNECTIONS,
    duration: seconds,
  });
  const wrong = result.errors + result.timeouts + result.non2xx + result.mismatches;
  if (wrong > 0) throw new Error(`${url} answered wrongly or not at all ${wrong} times.`);
  const used = server.cpuSeconds() - before;
  return { perSecond: result['2xx'] / result.duration, cpuMicroseconds: (used / result['2xx']) * 1e6 };
}
