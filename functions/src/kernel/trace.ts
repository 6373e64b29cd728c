/**
 * Traces of the current work, for the log. Source: W3C Trace Context, "traceparent Header"; MCP 2026-07-28, "_meta";
 * https://cloud.google.com/logging/docs/agent/logging/configuration#special-fields; docs/guides/operations.md#traces.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Traces {
  /** Trace of the HTTP request, which the platform recorded in the project of the deployment. */
  readonly http?: string | undefined;
  /** Trace of the client, which is part of the project of the client. */
  readonly client?: string | undefined;
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
export const currentTraces = new AsyncLocalStorage<Traces>();

/** Returns the value if it is a valid `traceparent` of version 00. */
export function validTraceparent(value: unknown): string | undefined {
  return typeof value === 'string' && TRACEPARENT.test(value) ? value : undefined;
}

/** Runs work whose log entries contain these traces, and those of the surrounding work. */
export function withTraces<T>(traces: Traces, work: () => T): T {
  const outer = currentTraces.getStore();
  const { http = outer?.http, client = outer?.client } = traces;
  // Without a trace, the cost of asynchronous context is avoided.
  return http === undefined && client === undefined ? work() : currentTraces.run({ http, client }, work);
}

/** Returns the fields of a log entry that name the traces. @param project id of the project of the deployment */
export function traceFields({ http, client }: Traces, project: string | undefined): Readonly<Record<string, unknown>> {
  const [, trace, span, flags = '0'] = http?.split('-') ?? [];
  return {
    ...(trace !== undefined && {
      'logging.googleapis.com/trace': `projects/${project}/traces/${trace}`,
      'logging.googleapis.com/spanId': span,
      'logging.googleapis.com/trace_sampled': (Number.parseInt(flags, 16) & 1) === 1,
    }),
    ...(client !== undefined && { client_trace: client.split('-')[1] }),
  };
}
