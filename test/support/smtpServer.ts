/** A local SMTP server. Source: RFC 5321; https://nodemailer.com/extras/smtp-server */
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { close, listen } from './listening.ts';

export interface LocalSmtpServer {
  /** Address for SMTP_URL, with an account. */
  readonly url: string;
  /** Received emails, each with its headers. */
  readonly received: readonly string[];
  /** SMTP status with which the server refuses the next recipients; undefined to accept them. */
  refusal: number | undefined;
  close(): Promise<void>;
}

export async function startSmtpServer(): Promise<LocalSmtpServer> {
  const received: string[] = [];
  const state: { refusal: number | undefined } = { refusal: undefined };
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      password === 'hunter2' ? done(null, { user: username }) : done(new Error('Wrong password')),
    onRcptTo: ({ address }, _, done) =>
      state.refusal === undefined
        ? done()
        : done(Object.assign(new Error(`No such mailbox: ${address}`), { responseCode: state.refusal })),
    onData: (stream, _, done) => void text(stream).then((mail) => done(null, void received.push(mail)), done),
  });
  const address = new URL(await listen(smtp.server));
  return Object.assign(state, {
    url: `smtp://muster:hunter2@${address.host}`,
    received,
    close: () => close(smtp.server),
  });
}
