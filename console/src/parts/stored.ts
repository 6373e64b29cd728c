/** Choices that are kept in this browser. What is stored may be older than the page, so it is validated. */
import type { z } from 'zod/mini';

/** @returns a function that reads, and one that writes */
export function stored<Schema extends z.ZodMiniType>(
  key: string,
  schema: Schema,
  initial: z.output<Schema>,
): readonly [read: () => z.output<Schema>, write: (value: z.output<Schema>) => void] {
  return [
    () => {
      try {
        const { success, data } = schema.safeParse(JSON.parse(localStorage.getItem(key) ?? 'null'));
        return success ? data : initial;
      } catch {
        return initial;
      }
    },
    (value) => localStorage.setItem(key, JSON.stringify(value)),
  ];
}
