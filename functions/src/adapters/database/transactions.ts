/** Compare-and-set of one node. */
import type { Reference } from 'firebase-admin/database';

/**
 * What the client says of a transaction that it gave up, without knowing whether it took effect: the
 * connection was lost, or somebody here wrote over it.
 * Source: @firebase/database, PersistentConnection.cancelSentTransactions_ and repoAbortTransactions.
 */
const GIVEN_UP = ['disconnect', 'set'];

/**
 * Changes a node from what it is.
 * @param update gives the new value, or undefined to leave it; called again where the node is another than it
 *   seemed
 * @returns whether it was changed, as far as is known
 */
export async function changeNode(
  node: Reference,
  update: (current: unknown) => object | string | number | null | undefined,
): Promise<boolean> {
  try {
    // Not applied locally: listeners must not be told of what the database may refuse.
    return (await node.transaction(update, undefined, false)).committed;
  } catch (error) {
    if (error instanceof Error && GIVEN_UP.includes(error.message)) return false;
    throw error;
  }
}
