/** Emails in `mail`, which an SMTP server sends. Source: docs/guides/reminders.md#email. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { compose } from '../../../functions/src/composition/compose.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { mailPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { smtpMailer } from '../../../functions/src/vendors/smtp/mailer.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { type LocalSmtpServer, startSmtpServer } from '../../support/smtpServer.ts';

const MINUTE = 60_000;

describe('an email', () => {
  let server: LocalSmtpServer;
  let now: Date;
  let id: string;
  const logged: string[] = [];
  const error = (_: string, fields = {}) => void logged.push(JSON.stringify(fields));
  const log = { info() {}, warn() {}, error };

  before(async () => {
    server = await startSmtpServer();
  });
  after(() => server.close());
  beforeEach(async () => {
    id = `mail-${randomUUID()}`;
    now = new Date('2040-01-01T00:00:00Z');
    server.refusal = undefined;
    const message = { subject: 'Ada invites you', text: 'Open the console: http://127.0.0.1:5000/\n\n.\nBye' };
    await firestore()
      .doc(mailPath(id))
      .create({ to: [`${id}@example.com`], message, created_at: now });
  });

  const deliver = (url = server.url) => {
    const mailer = smtpMailer({ url, from: 'Muster <muster@example.com>' });
    const services = externalServicesOf({ mailer: () => mailer, clock: { now: () => now }, log });
    return compose(services).services.deliverMail(id);
  };
  const sent = () => server.received.filter((mail) => mail.includes(id));
  const delivery = async () => Object((await firestore().doc(mailPath(id)).get()).data()?.['delivery']);

  it('is sent once to its recipient, if it is delivered several times at once and later', async () => {
    const tries = await Promise.allSettled([deliver(), deliver(), deliver()]);
    for (const one of tries.filter(({ status }) => status === 'rejected'))
      assert.match(String(Object(one).reason), /Another instance is sending/);
    await deliver();
    assert.equal(sent().length, 1);
    const [mail = ''] = sent();
    assert.match(mail, /^From: Muster <muster@example\.com>$/m);
    assert.match(mail, new RegExp(`^To: ${id}@example\\.com$`, 'm'));
    assert.match(mail, /^Subject: Ada invites you$/m);
    assert.match(mail, new RegExp(`^Message-ID: <${id}@muster>$`, 'm'));
    assert.match(mail, /Open the console: http:\/\/127\.0\.0\.1:5000\/\s+\.\s+Bye/);
    assert.equal((await delivery()).state, 'SUCCESS');
  });

  it('is given up if the server refuses it, with a log entry that contains no address', async () => {
    server.refusal = 550;
    await deliver();
    server.refusal = undefined;
    await deliver();
    assert.deepEqual(
      [sent().length, (await delivery()).state, (await delivery()).error],
      [0, 'ERROR', 'EENVELOPE 550'],
    );
    assert.match(String(logged.at(-1)), /EENVELOPE 550/);
    assert.doesNotMatch(logged.join(), /example\.com|hunter2/);
  });

  it('is sent again if the server was unreachable, busy or had other credentials', async () => {
    await assert.rejects(deliver('smtp://127.0.0.1:9'), /unreachable: ESOCKET/);
    assert.equal((await delivery()).state, 'RETRY');
    server.refusal = 451;
    await assert.rejects(deliver(), /unreachable/);
    server.refusal = undefined;
    await assert.rejects(deliver(server.url.replace('hunter2', 'wrong')), /EAUTH/);
    await deliver();
    assert.deepEqual([sent().length, (await delivery()).state], [1, 'SUCCESS']);
  });

  it('is given up after a day, because its reminder or question is outdated', async () => {
    now = new Date(now.getTime() + 25 * 60 * MINUTE);
    await deliver('smtp://127.0.0.1:9');
    assert.equal((await delivery()).state, 'ERROR');
  });

  it('is sent by another instance a minute after its sender has crashed', async () => {
    const leaseExpireTime = new Date(now.getTime() + MINUTE);
    await firestore()
      .doc(mailPath(id))
      .update({ delivery: { state: 'PROCESSING', startTime: now, leaseExpireTime } });
    await assert.rejects(deliver(), /Another instance is sending/, 'the trigger must retry');
    assert.equal(sent().length, 0);
    now = leaseExpireTime;
    await deliver();
    assert.equal(sent().length, 1);
  });

  it('stays as it is if no server is configured, and if it has been deleted', async () => {
    await compose(externalServicesOf({ mailer: () => undefined })).services.deliverMail(id);
    assert.equal((await firestore().doc(mailPath(id)).get()).data()?.['delivery'], undefined);
    await firestore().doc(mailPath(id)).delete();
    await deliver();
    assert.equal(sent().length, 0);
  });
});
