/** Changed fields of an item. */
import { z } from 'zod/mini';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf } from '../../router.ts';

const fields = z.record(z.string(), z.unknown());

export const change = z.object({
  kind: z.string(),
  id: z.string(),
  before: z.exactOptional(fields),
  after: z.exactOptional(fields),
  shortened: z.exactOptional(z.boolean()),
});
export type ChangeInTrail = z.output<typeof change>;

/** First path segment of an item's page, by kind. Other kinds have no page. */
const PAGES: Readonly<Record<string, string>> = { task: 't', run: 'r', agent: 'a' };

export function Change({ change: { kind, id, before, after, shortened } }: { readonly change: ChangeInTrail }) {
  const page = PAGES[kind];
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const what = before === undefined ? 'made' : after === undefined ? 'deleted' : 'changed';
  return (
    <details class="change">
      <summary>
        {kind} <UserText text={id} /> {what}
        {what === 'changed' && `: ${names.join(', ')}`}
      </summary>
      {page !== undefined && (
        <p>
          <a href={addressOf([page, id])}>Look at it</a>
        </p>
      )}
      <dl class="facts">
        {names.map((name) => (
          <div key={name}>
            <dt>
              <UserText text={name} />
            </dt>
            <dd>
              {before !== undefined && (
                <del>
                  <UserText text={shown(before[name])} limit={500} />
                </del>
              )}{' '}
              {after !== undefined && (
                <ins>
                  <UserText text={shown(after[name])} limit={500} />
                </ins>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {shortened === true && <p class="soft">Some values were too long to keep.</p>}
    </details>
  );
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
