/** A budget in the response of `system.getTree`. */
import { z } from 'zod/mini';

const amount = z.object({ money: z.exactOptional(z.number()), tokens: z.exactOptional(z.number()) });
export const budget = z.object({ kind: z.string(), id: z.string(), limit: amount, spent: amount, left: amount });
export type Budget = z.output<typeof budget>;
