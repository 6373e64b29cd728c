/** Page of one item: a link to the item's list, and the item or the reason why it is not shown. */
import type { ComponentChildren } from 'preact';
import type { Live } from '../live/states.ts';
import { addressOf } from '../router.ts';
import { Shown } from './Notice.tsx';
import { UserText } from './UserText.tsx';

interface DetailPageProps<Value> {
  /** Path and title of the list that contains the item. */
  readonly list: readonly [path: string, title: string];
  /** Kind of the item: `task`. */
  readonly kind: string;
  readonly id: string;
  readonly live: Live<Value | undefined>;
  readonly children: (value: Value) => ComponentChildren;
}

export function DetailPage<Value>({ list: [path, title], kind, id, live, children }: DetailPageProps<Value>) {
  return (
    <>
      <p class="trail">
        <a href={addressOf([path])}>{title}</a> / <UserText text={id} />
      </p>
      {!('value' in live) && <h1>{`A ${kind}`}</h1>}
      <Shown live={live}>
        {(value) => (value === undefined ? <h1>{`This ${kind} was not found`}</h1> : children(value))}
      </Shown>
    </>
  );
}
