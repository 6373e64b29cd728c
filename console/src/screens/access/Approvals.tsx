/** Switches for approvals that agents need, and the spending limit of the workspace. For leaders. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { access as text } from '../../../text/access.ts';
import { fill, money } from '../../../ui/format.ts';
import { act } from '../../calls/tools.ts';
import { workspaceDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { workspaceOf } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { Switch } from '../../parts/ActionFields.tsx';
import { tellError } from '../../parts/acting.tsx';
import { LimitField } from '../../parts/LimitField.tsx';
import { Section, Shown } from '../../parts/Notice.tsx';
import { useWorkspaceTotals } from '../../parts/workspaceTotals.ts';
import { mayAs } from '../../shell/role.ts';
import { type ApprovalRule, ASKED, withRule } from './approvals.ts';

export function Approvals({ here }: { readonly here: string }) {
  const live = useLive(document(workspaceOf(here), workspaceDocument));
  const { chosen, choose } = useChosen(here, 'value' in live ? JSON.stringify(live.value?.approvals) : '');
  const isLeader = mayAs('leader');
  const { own: budget, refetch } = useWorkspaceTotals(here);
  const limit = budget?.limit.money;
  return (
    <Section title={text.askMe}>
      <Shown live={live} what={text.askMe.toLowerCase()}>
        {(stored) => {
          const rules = chosen.value ?? stored?.approvals ?? [];
          return (
            <ul class="card rows">
              {ASKED.map(({ name, tools }) => (
                <li key={name} class="row">
                  <Switch
                    isOn={tools.every((tool) => rules.some((rule) => rule.tool === tool))}
                    hint={text.asked[name].hint}
                    disabled={!isLeader}
                    set={(isOn) => choose(withRule(rules, tools, isOn))}>
                    {text.asked[name].title}
                  </Switch>
                </li>
              ))}
              {rules
                .filter(({ tool }) => ASKED.every(({ tools }) => !tools.includes(tool)))
                .map(({ tool }) => (
                  <li key={tool} class="row">
                    <Switch isOn disabled={!isLeader} set={(isOn) => choose(withRule(rules, [tool], isOn))}>
                      <code>{tool}</code>
                    </Switch>
                  </li>
                ))}
              <li class="row">
                <div class="grow">
                  <p>{text.limit}</p>
                  <p class="hint">
                    {limit === undefined
                      ? text.limitHint
                      : fill(text.limitOf, { spent: money(budget?.spent.money ?? 0), limit: money(limit) })}
                  </p>
                </div>
                {isLeader && <LimitField kind="workspace" id={here} money={limit} changed={refetch} />}
              </li>
            </ul>
          );
        }}
      </Shown>
    </Section>
  );
}

/** Rules that the person has chosen and that are not stored yet: the next choice changes these, not the stored ones. */
function useChosen(here: string, stored: string) {
  const chosen = useSignal<readonly ApprovalRule[] | undefined>(undefined);
  const calls = useRef({ pending: 0, last: Promise.resolve() });
  useEffect(() => {
    if (calls.current.pending === 0) chosen.value = undefined;
  }, [stored]);
  async function save(rules: readonly ApprovalRule[]): Promise<void> {
    try {
      await act('access.update_workspace', { workspace: here, approvals: rules.map(asArgument) }, z.object({}));
    } catch (error) {
      chosen.value = undefined;
      tellError(error);
    }
    calls.current.pending--;
  }
  function choose(rules: readonly ApprovalRule[]): void {
    chosen.value = rules;
    calls.current.pending++;
    calls.current.last = calls.current.last.then(() => save(rules));
  }
  return { chosen, choose };
}

function asArgument({ tool, above_usd, asks }: ApprovalRule) {
  return { tool, ...(above_usd !== null && { above_usd }), ...(asks !== null && { asks }) };
}
