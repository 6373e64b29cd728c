/** Sends emails to an SMTP server. Source: RFC 5321; https://nodemailer.com/smtp */
import { loadedOnce } from '../../kernel/memoCache.ts';
import type { Mailer, SentMail } from '../../toolsets/todo/index.ts';

export interface SmtpSettings {
  /** Address of the server: `smtps://user:password@smtp.example.com`. */
  readonly url: string;
  /** Sender of all emails: `Muster <muster@example.com>`. */
  readonly from: string;
}

/** Time limits of a connection, in milliseconds. They are shorter than the function's time limit of a minute. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/** Codes of nodemailer for a refused recipient or email. After other errors, such as of the account, a retry can succeed. */
const REFUSED = ['EENVELOPE', 'EMESSAGE'];

export function smtpMailer({ url, from }: SmtpSettings): Mailer {
  const transport = loadedOnce(async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({ url, ...TIMEOUTS }, { from, disableFileAccess: true, disableUrlAccess: true });
  });
  return {
    async send({ id, to, subject, text }: SentMail) {
      try {
        // Mail programs show an email once, even if it was sent twice, if both have the same id.
        await (await transport()).sendMail({ to: [...to], subject, text, messageId: `<${id}@muster>` });
        return { state: 'sent' };
      } catch (error) {
        const { responseCode, code } = Object(error);
        // Whether the server refuses the email permanently. Source: RFC 5321, section 4.2.1.
        const isRefused = REFUSED.includes(String(code)) && !(typeof responseCode === 'number' && responseCode < 500);
        // Only codes, because the server's text can contain the address of the person and the name of the account.
        const reason = [code, responseCode].filter((part) => part !== undefined).join(' ') || 'no connection';
        return { state: isRefused ? 'refused' : 'unreachable', reason };
      }
    },
  };
}
