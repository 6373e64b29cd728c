/** Arguments of a call that waits for approval, as labelled fields, with links to the branch and to the changes. */
import { Fragment } from 'preact';
import { needsYou as text } from '../../../text/needsYou.ts';
import { ExternalLink, UserText } from '../../../ui/UserText.tsx';
import type { Request } from '../../live/documents.ts';
import { TaskTitle } from '../../parts/Title.tsx';
import { fieldsOfCall } from './callFields.ts';

export function CallFields({ call }: { readonly call: NonNullable<Request['call']> }) {
  const { fields, links } = fieldsOfCall(call.arguments);
  return (
    <dl class="facts block">
      <dt>{text.tool}</dt>
      <dd>
        <code>{call.tool}</code>
      </dd>
      {fields.map(({ name, label, value }) => (
        <Fragment key={name}>
          <dt>{label}</dt>
          <dd>{name === 'task_id' ? <TaskTitle id={value} /> : <UserText text={value} links limit={2000} />}</dd>
        </Fragment>
      ))}
      {links.length > 0 && (
        <>
          <dt>{text.open}</dt>
          <dd>
            {links.map(({ label, address }) => (
              <ExternalLink key={address} address={address}>
                {label}
              </ExternalLink>
            ))}
          </dd>
        </>
      )}
    </dl>
  );
}
