/** Result of an undo: what was undone, and what was not and why. */
import { z } from 'zod/mini';
import { UserText } from '../../parts/UserText.tsx';

export const outcome = z.object({
  undone: z.array(z.object({ kind: z.string(), id: z.string() })),
  refused: z.array(
    z.object({
      kind: z.string(),
      id: z.string(),
      why: z.string(),
      changed_by: z.exactOptional(z.string()),
      changed_with: z.exactOptional(z.string()),
    }),
  ),
  more: z.boolean(),
});

export function Outcome({ of: { undone, refused, more } }: { readonly of: z.output<typeof outcome> }) {
  return (
    <section class="card" aria-label="Undo result" role="status">
      <p>
        {undone.length === 0
          ? 'Nothing was undone.'
          : `Undone: ${undone.map(({ kind, id }) => `${kind} ${id}`).join(', ')}.`}
        {more && ' There is more: do it once more.'}
      </p>
      <ul>
        {refused.map(({ kind, id, why, changed_by, changed_with }) => (
          <li key={`${kind} ${id}`}>
            {kind} <UserText text={id} /> was not: <UserText text={why} />
            {changed_by !== undefined && (
              <>
                {' ('}
                <UserText text={changed_by} />
                {changed_with !== undefined && `, ${changed_with}`})
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
