/** Frame of a screen: its bar, with title and actions, and its content. It also sets the title of the browser's tab. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { common } from '../../text/common.ts';
import { shell } from '../../text/shell.ts';
import { fill } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import { UserText } from '../../ui/UserText.tsx';
import type { Live } from '../live/states.ts';
import { addressOf } from '../router.ts';
import { waitingCount } from '../shell/useWaiting.ts';
import { Bones } from './Bones.tsx';
import { Empty, Shown } from './Notice.tsx';

interface PageProps {
  readonly title: string;
  /** Views and actions at the right of the bar. */
  readonly actions?: ComponentChildren;
  /** Whether the content takes the whole height of the window. */
  readonly isFilling?: boolean;
  readonly children: ComponentChildren;
}

export function Page({ title, actions, isFilling = false, children }: PageProps) {
  useTabTitle(title);
  return (
    <>
      <header class="bar">
        <h1>{title}</h1>
        <div class="end">{actions}</div>
      </header>
      <div class={isFilling ? 'body fill' : 'body'}>{children}</div>
    </>
  );
}

interface DetailPageProps<Value> {
  /** Path and title of the list that contains the item. */
  readonly list: readonly [path: string, title: string];
  /** Kind of the item, for a sentence: `Task`. */
  readonly kind: string;
  readonly live: Live<Value | undefined>;
  titleOf(value: NoInfer<Value>): string;
  actions?(value: Value): ComponentChildren;
  readonly children: (value: Value) => ComponentChildren;
}

/** Page of one item: a path to its list, its actions, and the item or the reason why it isn't shown. */
export function DetailPage<Value>({
  list: [path, name],
  kind,
  live,
  titleOf,
  actions,
  children,
}: DetailPageProps<Value>) {
  const value = 'value' in live ? live.value : undefined;
  const isMissing = 'value' in live && value === undefined;
  const title = value === undefined ? (isMissing ? fill(common.notFound, { Kind: kind }) : kind) : titleOf(value);
  useTabTitle(title);
  return (
    <>
      <header class="bar">
        <nav class="crumbs" aria-label={name}>
          <a href={addressOf([path])}>{name}</a>
          <Icon of="next" small />
          <span class="cut" aria-current="page">
            {live.state === 'loading' ? <span class="bone half" /> : <UserText text={title} limit={120} />}
          </span>
        </nav>
        <div class="end">{value !== undefined && actions?.(value)}</div>
      </header>
      <div class="body">
        {isMissing ? (
          <Empty icon="search" title={title} hint={common.notFoundHint} isPage />
        ) : (
          <>
            {value === undefined && <h1 class="away">{kind}</h1>}
            <Shown live={live} what={kind.toLowerCase()} bones={<Bones lines={6} />}>
              {(loaded) => loaded !== undefined && children(loaded)}
            </Shown>
          </>
        )}
      </div>
    </>
  );
}

function useTabTitle(title: string): void {
  const count = waitingCount.value;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title} · ${shell.name}`;
  }, [title, count]);
}
