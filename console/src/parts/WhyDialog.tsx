/** Why a task or run is as it is, and what would help. */
import { useEffect, useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { common } from '../../text/common.ts';
import { task as text } from '../../text/task.ts';
import { UserText } from '../../ui/UserText.tsx';
import { callTool } from '../calls/tools.ts';
import { useResponse } from '../calls/useResponse.ts';
import { askedWhy, type Question } from './dialogs.ts';
import { Shown } from './Notice.tsx';

const explanation = z.object({
  why: z.string(),
  waits: z._default(z.array(z.object({ why: z.string(), remedy: z.string() })), []),
});

export function WhyDialog() {
  return askedWhy.value === undefined ? null : <Dialog question={askedWhy.value} />;
}

function Dialog({ question }: { readonly question: Question }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { live } = useResponse(JSON.stringify(question), () => callTool('access.explain', question, explanation));
  return (
    <dialog ref={dialog} class="dialog" aria-label={text.whyTitle} onClose={() => (askedWhy.value = undefined)}>
      <div class="stack">
        <h2>{text.whyTitle}</h2>
        <Shown live={live}>
          {({ why, waits }) => (
            <>
              <p>
                <UserText text={why} />
              </p>
              <ul class="stack">
                {waits.map((one) => (
                  <li key={one.why}>
                    <p>
                      <UserText text={one.why} />
                    </p>
                    <p class="soft">
                      {`${text.remedy}: `}
                      <UserText text={one.remedy} links />
                    </p>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Shown>
        <p class="acts end">
          <button type="button" class="b" onClick={() => dialog.current?.close()}>
            {common.close}
          </button>
        </p>
      </div>
    </dialog>
  );
}
