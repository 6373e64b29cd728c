/** Why a task or run is as it is, and what would help. */
import { z } from 'zod/mini';
import { common } from '../../text/common.ts';
import { task as text } from '../../text/task.ts';
import { UserText } from '../../ui/UserText.tsx';
import { callTool } from '../calls/tools.ts';
import { useResponse } from '../calls/useResponse.ts';
import { Dialog } from './Dialog.tsx';
import { askedWhy, type Question } from './dialogs.ts';
import { Shown } from './Notice.tsx';

const explanation = z.object({
  why: z.string(),
  waits: z._default(z.array(z.object({ why: z.string(), remedy: z.string() })), []),
});

export function WhyDialog() {
  return askedWhy.value === undefined ? null : <Why question={askedWhy.value} />;
}

function Why({ question }: { readonly question: Question }) {
  const { live } = useResponse(JSON.stringify(question), () => callTool('access.explain', question, explanation));
  return (
    <Dialog title={text.whyTitle} keep={common.close} closed={() => (askedWhy.value = undefined)}>
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
    </Dialog>
  );
}
