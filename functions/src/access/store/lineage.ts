/** The lineage of credentials, invitations and calls that wait, as Firestore keeps it. */
import { z } from 'zod';
import type { Link } from '../rules/lineage.ts';

/** The credentials through which something was made, outermost first. Source: access/rules/lineage.ts. */
export const lineage = z.array(
  z.object({
    /** `key:` and the line of a key, or `grant:` and the id of a grant. */
    subject: z.templateLiteral([z.enum(['key', 'grant']), ':', z.string()]),
    /** The agent of that credential. */
    agent_id: z.string(),
  }),
);

/** The ids of the agents of a lineage, by which what was made through an agent is found. */
export function registrantsIn(links: readonly Link[] | undefined): { readonly registrants?: string[] } {
  return links ? { registrants: [...new Set(links.map(({ agentId }) => agentId))] } : {};
}
