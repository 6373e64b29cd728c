/** The part of a function's manifest that the tests use. Source: type ManifestEndpoint of firebase-functions. */
import { z } from 'zod';

const eventTrigger = z.object({
  eventType: z.string(),
  eventFilters: z.object({ topic: z.string(), document: z.string() }).partial().default({}),
  eventFilterPathPatterns: z.object({ document: z.string() }).partial().default({}),
});

export const manifest = z.object({
  eventTrigger: eventTrigger.optional(),
  scheduleTrigger: z.object({}).optional(),
  taskQueueTrigger: z.object({}).optional(),
});

export type Manifest = z.infer<typeof manifest>;

/** Returns the pattern of the documents whose writes trigger a function, such as `tasks/{taskId}`. */
export function documentOf({ eventTrigger: trigger }: Manifest): string | undefined {
  return trigger?.eventFilterPathPatterns.document ?? trigger?.eventFilters.document;
}

export const topicOf = ({ eventTrigger: trigger }: Manifest): string | undefined => trigger?.eventFilters.topic;
