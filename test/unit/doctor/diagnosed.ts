/** Runs the doctor against the recorded responses of a project. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { diagnose, type Named } from '../../../scripts/doctor/diagnose.ts';
import { Google } from '../../../scripts/google/client.ts';
import { PROJECT, type RecordedProject, type Recording, recordingOf } from '../../support/google/answers.ts';
import { LocalGoogle, TOKEN } from '../../support/google/server.ts';

/** @param change edits the recorded responses before the doctor reads them */
export async function diagnosed(
  name: RecordedProject,
  change: (recording: Recording) => Recording | undefined = () => undefined,
): Promise<readonly Named[]> {
  const recording = await recordingOf(name);
  const { declared, answers } = change(recording) ?? recording;
  const local = new LocalGoogle(answers);
  await local.start();
  try {
    const google = new Google({ project: PROJECT, token: async () => TOKEN, origin: local.url });
    const { findings } = await diagnose(google, declared);
    assert.deepEqual(local.faults, []);
    return findings;
  } finally {
    await local.stop();
    rmSync(recording.folder, { recursive: true });
  }
}

export function namesOf(findings: readonly Named[], state: Named['state']): readonly string[] {
  return findings.filter((one) => one.state === state).map(({ name }) => name);
}

/** Returns the command that fixes a finding, or the page and the steps on that page. */
export function mendOf(findings: readonly Named[], name: string): string {
  const finding = findings.find((one) => one.name === name);
  const fix = finding !== undefined && finding.state !== 'ok' ? finding.fix : undefined;
  if (fix === undefined) return '';
  return 'command' in fix ? fix.command : `${fix.page} ${fix.press}`;
}
