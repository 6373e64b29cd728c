/** Output and exit codes of `npm run doctor` and of `npm run deploy -- --dry-run`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { PROJECT, recordingOf } from '../../support/google/answers.ts';
import { googleError, LocalGoogle, TOKEN } from '../../support/google/server.ts';

const scripts = fileURLToPath(new URL('../../../scripts', import.meta.url));

/** Module that ends the process at its first connection. */
const OFFLINE = 'data:text/javascript,import net from "node:net"; net.Socket.prototype.connect = () => process.exit(9)';

const report = z.object({
  project: z.string(),
  findings: z.array(z.looseObject({ name: z.string(), state: z.enum(['ok', 'warning', 'problem', 'unseen']) })),
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

describe('npm run doctor and deploy', () => {
  let local: LocalGoogle;
  const home = mkdtempSync(join(tmpdir(), 'muster-home-'));
  before(async () => {
    local = new LocalGoogle((await recordingOf('healthy')).answers);
    await local.start();
  });
  after(async () => {
    await local.stop();
    rmSync(home, { recursive: true });
  });

  const doctor = (args: readonly string[], env?: NodeJS.ProcessEnv) => run([`${scripts}/doctor/main.ts`, ...args], env);

  function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const { PATH } = process.env;
    const google = { MUSTER_GOOGLE_URL: local.url, GOOGLE_OAUTH_ACCESS_TOKEN: TOKEN };
    const options = { env: { PATH, HOME: home, METADATA_SERVER_DETECTION: 'none', ...google, ...env } };
    return new Promise((resolve) => {
      execFile(process.execPath, args, options, (error, out, printed) =>
        resolve({ code: Number(error?.code ?? 0), out, error: printed }),
      );
    });
  }

  const oneLine = ({ code, out, error }: Ended, says: RegExp): void => {
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(error, says);
    assert.equal(error.trim().split('\n').length, 1, error);
    assert.doesNotMatch(error, /\n\s+at /);
  };

  it('prints one line per check and exits with 1 if there is a problem', async () => {
    // This clone has no parameter file of the project, so the doctor assumes the default account and no sign-in.
    const { code, out } = await doctor(['--project', PROJECT]);
    assert.equal(code, 1);
    assert.match(out, /^ok {7}Firestore$/m);
    assert.match(out, /^PROBLEM {2}service account: SERVICE_ACCOUNT is empty.*\n {9}Why it matters: .*\n {9}\$ echo/m);
    assert.match(out, /\d+ ok, \d+ warnings, \d+ problems, \d+ not checked\.\n$/);
  });

  it('prints its findings as JSON with --json', async () => {
    const { code, out } = await doctor(['--project', PROJECT, '--json']);
    const { project, findings } = report.parse(JSON.parse(out));
    assert.equal(code, 1);
    assert.equal(project, PROJECT);
    const account = findings.find(({ name }) => name === 'service account');
    assert.equal(account?.state, 'problem');
    assert.match(JSON.stringify(account), /"fix":\{"command":"echo 'SERVICE_ACCOUNT=muster@' >>/);
  });

  it('prints one line if it cannot inspect the project at all', async () => {
    const asked = ['--project', PROJECT];
    const [none, old, away, unknown] = await Promise.all([
      doctor(asked, { GOOGLE_OAUTH_ACCESS_TOKEN: '' }),
      doctor(asked, { GOOGLE_OAUTH_ACCESS_TOKEN: 'ya29.old' }),
      doctor(asked, { MUSTER_GOOGLE_URL: 'http://127.0.0.1:1' }),
      doctor(['--project', 'another-project']),
    ]);
    oneLine(none, /^No Google credentials: run `gcloud/);
    oneLine(old, /^Google rejected your credentials: /);
    oneLine(away, /^Google is unreachable: /);
    oneLine(unknown, /^Project another-project not found, or your credentials cannot access it/);
  });

  it('prints all steps of a deployment without credentials and connections', async () => {
    const deploy = [`${scripts}/deploy/main.ts`, '--project', PROJECT, '--dry-run'];
    const { code, out } = await run(['--import', OFFLINE, ...deploy], { GOOGLE_OAUTH_ACCESS_TOKEN: '' });
    assert.equal(code, 0);
    assert.match(
      out,
      /^No Google credentials: .*\nThe state of the project is unknown, so these are all steps:\nwould/,
    );
    assert.match(out, /\nwould change: functions\n.*\nwould call: https:\S+\/mcp\n$/s);
    assert.doesNotMatch(out, /^unchanged/m);
  });

  it('reports an invalid argument and exits', async () => {
    assert.match((await doctor([])).error, /^Missing project: specify --project <id>\./);
    assert.match((await doctor(['--project', 'A b'])).error, /^--project: A b is not a project id/);
    assert.match((await doctor(['--project', PROJECT, '--fix'])).error, /Unknown option '--fix'/);
  });

  it('reports a check as "unseen" if it lacks the permission for that check', async () => {
    const path = `cloudbilling.googleapis.com/v1/projects/${PROJECT}/billingInfo`;
    local.answers.set(path, googleError(403, 'PERMISSION_DENIED', 'The caller does not have permission'));
    const { out } = await doctor(['--project', PROJECT]);
    assert.match(
      out,
      /^unseen {3}billing: not checked: The caller does not have permission\n {9}\$ gcloud projects add-iam/m,
    );
    assert.deepEqual(local.faults, []);
  });
});
