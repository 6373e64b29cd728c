/** The doctor's report, as text and as JSON. */
import type { Fix } from './check.ts';
import type { Named } from './diagnose.ts';

/** Returns one line per check. For a problem, more lines explain why it matters and how to fix it. */
export function linesOf(findings: readonly Named[]): readonly string[] {
  return [...findings.flatMap(linesOfOne), '', summaryOf(findings)];
}

function linesOfOne(finding: Named): readonly string[] {
  if (finding.state === 'ok') return [`ok       ${finding.name}`];
  if (finding.state === 'unseen')
    return [`unseen   ${finding.name}: not checked: ${finding.what}`, ...linesOfFix(finding.fix)];
  return [
    `${finding.state === 'problem' ? 'PROBLEM' : 'warning'}  ${finding.name}: ${finding.what}`,
    `         Why it matters: ${finding.why}.`,
    ...linesOfFix(finding.fix),
  ];
}

function linesOfFix(fix: Fix | undefined): readonly string[] {
  if (fix === undefined) return [];
  return 'command' in fix ? [`         $ ${fix.command}`] : [`         ${fix.page}`, `         ${fix.press}.`];
}

function summaryOf(findings: readonly Named[]): string {
  const count = (state: string) => findings.filter((one) => one.state === state).length;
  return `${count('ok')} ok, ${count('warning')} warnings, ${count('problem')} problems, ${count('unseen')} not checked.`;
}

/** Returns whether every check ran without finding a problem. Warnings do not count. */
export function isHealthy(findings: readonly Named[]): boolean {
  return findings.every(({ state }) => state === 'ok' || state === 'warning');
}
