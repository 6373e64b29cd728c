/** The lineage of credentials, invitations and calls that wait, as Firestore keeps it. */
import type { Link } from '../rules/credential.ts';

/** The ids of the agents of a lineage, by which what was made through an agent is found. */
export function registrantsIn(links: readonly Link[] | undefined): { readonly registrants?: string[] } {
  return links ? { registrants: [...new Set(links.map(({ agentId }) => agentId))] } : {};
}
