/** Schema of get_run's response. Source: functions/src/toolsets/orchestration/tools/runs.ts. */
import { z } from 'zod/mini';

const step = z.object({
  name: z.string(),
  iteration: z._default(z.number(), 1),
  role: z.string(),
  agent: z.string(),
  status: z.string(),
  explanation: z.exactOptional(z.string()),
  error: z.exactOptional(z.string()),
  results: z._default(
    z.array(z.object({ agent: z.string(), output: z.exactOptional(z.string()), error: z.exactOptional(z.string()) })),
    [],
  ),
  taskId: z.exactOptional(z.string()),
  startedAt: z.exactOptional(z.iso.datetime()),
  settledAt: z.exactOptional(z.iso.datetime()),
});

const attempt = z.object({
  step: z.string(),
  agent: z.string(),
  model: z.string(),
  outcome: z.string(),
  reason: z.exactOptional(z.string()),
  waited: z.number(),
  milliseconds: z.number(),
  tokens: z.object({ input: z.number(), output: z.number() }),
});

export const runResponse = z.object({
  result: z.exactOptional(z.string()),
  steps: z.array(step),
  running: z.array(z.string()),
  attempts: z.array(attempt),
  selection: z.exactOptional(z.object({ reasons: z.array(z.string()) })),
});

export type Step = z.output<typeof step>;
export type RunResponse = z.output<typeof runResponse>;
export type Attempt = z.output<typeof attempt>;
