/** What the doctor found, in lines for people and as data. */
import type { Mend } from './check.ts';
import type { Named } from './diagnose.ts';

/** A line for each check; below a problem why it matters, and what mends it. */
export function linesOf(findings: readonly Named[]): readonly string[] {
  return [...findings.flatMap(linesOfOne), '', summaryOf(findings)];
}

function linesOfOne(finding: Named): readonly string[] {
  if (finding.state === 'ok') return [`ok       ${finding.name}`];
  if (finding.state === 'unseen')
    return [
      `unseen   ${finding.name}: could not look, because ${finding.what}`,
      ...linesOfMend(finding.mend),
    ];
  return [
    `${finding.state === 'problem' ? 'PROBLEM' : 'warning'}  ${finding.name}: ${finding.what}`,
    `         Why it matters: ${finding.why}.`,
    ...linesOfMend(finding.mend),
  ];
}

function linesOfMend(mend: Mend | undefined): readonly string[] {
  if (mend === undefined) return [];
  return 'command' in mend
    ? [`         $ ${mend.command}`]
    : [`         ${mend.page}`, `         ${mend.press}.`];
}

function summaryOf(findings: readonly Named[]): string {
  const count = (state: string) => findings.filter((one) => one.state === state).length;
  return `${count('ok')} ok, ${count('warning')} warnings, ${count('problem')} problems, ${count('unseen')} could not be looked at.`;
}

/** Returns whether everything was checked and there is no problem. Warnings are the operator's decision. */
export function isWell(findings: readonly Named[]): boolean {
  return findings.every(({ state }) => state === 'ok' || state === 'warning');
}
