/** Compare-and-set of one node. */
import type { Reference } from 'firebase-admin/database';

/**
 * What the client says of a transaction whose answer was lost with the connection: nobody knows whether it took effect.
 * Source: @firebase/database, PersistentConnection.cancelSentTransactions_.
 */
const UNANSWERED = 'disconnect';

/** What it says where somebody here wrote over it. Source: @firebase/database, repoAbortTransactions. */
const OVERWRITTEN = 'set';

/** A connection that breaks again and again ends the trying. */
const MAX_ATTEMPTS = 3;

/**
 * Changes a node from what it is. Where the answer is lost it is done again as soon as there is a connection, over what
 * is there then.
 * @param update gives the new value, or undefined to leave it; called again where the node is another than it
 *   seemed. What it has written itself, before an answer was lost, it must know again and write once more.
 * @returns whether it was changed, as far as is known
 */
export async function changeNode(
  node: Reference,
  update: (current: unknown) => object | string | number | null | undefined,
): Promise<boolean> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      // Not applied locally: listeners must not be told of what the database may refuse.
      return (await node.transaction(update, undefined, false)).committed;
    } catch (error) {
      const reason = error instanceof Error ? error.message : undefined;
      if (reason === OVERWRITTEN) return false;
      if (reason !== UNANSWERED) throw error;
    }
  }
  return false;
}
