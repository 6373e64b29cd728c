/** States of a part of the page: loading, offline, no access, an error, empty. */
import type { ComponentChildren } from 'preact';
import { common } from '../../text/common.ts';
import { fill, timeOfDay } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import type { IconName } from '../../ui/icons.ts';
import { UserText } from '../../ui/UserText.tsx';
import { relisten } from '../live/live.ts';
import type { Live } from '../live/states.ts';
import { Bones } from './Bones.tsx';
import { Boundary } from './Boundary.tsx';

interface ShownProps<Value> {
  readonly live: Live<Value>;
  /** Name of the data, for the sentence of an error. */
  readonly what?: string;
  /** Content while the data loads; by default, three lines. */
  readonly bones?: ComponentChildren;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows loaded data, or why it isn't shown. The frame of the page says that the connection is lost. */
export function Shown<Value>({ live, what, bones, children }: ShownProps<Value>) {
  if ('value' in live) {
    return (
      <Boundary>
        <Drawn value={live.value} draw={children} />
      </Boundary>
    );
  }
  return <Absent live={live} what={what} bones={bones} />;
}

/** A separate component, so that an error in it reaches the boundary around it. */
function Drawn<Value>({ value, draw }: { readonly value: Value; draw(value: Value): ComponentChildren }) {
  return <>{draw(value)}</>;
}

interface AbsentProps {
  readonly live: Live<unknown>;
  readonly what?: string | undefined;
  readonly bones?: ComponentChildren;
}

export function Absent({ live, what = common.thisPart, bones = <Bones /> }: AbsentProps) {
  if (live.state === 'denied') return <Empty icon="lock" title={common.denied} hint={common.deniedHint} />;
  if (live.state === 'failed') {
    return (
      <p class="notice bad" role="alert">
        <Icon of="warn" />
        <span>
          <UserText text={fill(common.failed, { what, why: live.why })} />{' '}
          <button type="button" class="b small" onClick={relisten}>
            {common.tryAgain}
          </button>
        </span>
      </p>
    );
  }
  return <>{bones}</>;
}

/** Above the content while the connection is lost. */
export function StaleNotice({ asOf }: { readonly asOf: Date }) {
  return (
    <p class="notice wait" role="status">
      <Icon of="offline" />
      {fill(common.reconnectingSince, { time: timeOfDay(asOf) })}
    </p>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly hint?: string;
  /** Whether it stands for the whole page, whose heading it then is. */
  readonly isPage?: boolean;
  /** One next step. */
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, hint, isPage = false, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon of={icon} />
      {isPage ? <h1>{title}</h1> : <b>{title}</b>}
      {hint !== undefined && <p>{hint}</p>}
      {children !== undefined && <div class="acts">{children}</div>}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  /** A number, or a text such as `50+` if more rows exist. */
  readonly count?: number | string | undefined;
  /** At the right of the title. */
  readonly actions?: ComponentChildren;
  /** Whether the section is a card, with its title inside. */
  readonly isCard?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** Part of a page, with a title. An error in it does not end the rest of the page. */
export function Section({ title, count, actions, isCard = false, class: name = '', children }: SectionProps) {
  return (
    <section class={`${isCard ? 'card' : ''} ${name}`} aria-label={title}>
      <div class="head">
        <h2>{title}</h2>
        {count !== undefined && <span class="count">{count}</span>}
        {actions !== undefined && <span class="acts push">{actions}</span>}
      </div>
      <Boundary>{children}</Boundary>
    </section>
  );
}
