/** Measures how many requests per second a function serves under full load. */
import autocannon from 'autocannon';
import type { FunctionServer } from '../servers/functionServer.ts';

export interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Returns whether a response is correct. The measurement fails if any response is not. */
  readonly isRight: (answer: string) => boolean;
}

/** Number of connections that saturates one process. More connections would only wait and use memory and CPU time. */
const CONNECTIONS = 16;

export interface Rate {
  readonly perSecond: number;
  /** CPU time of the function's process. */
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
  if (wrong > 0) throw new Error(`${url} returned ${wrong} wrong or missing responses.`);
  const used = server.cpuSeconds() - before;
  return { perSecond: result['2xx'] / result.duration, cpuMicroseconds: (used / result['2xx']) * 1e6 };
}
