/** The mails by which people sign in, which the Auth emulator keeps and does not send. */
import assert from 'node:assert/strict';
import { z } from 'zod';

const codes = z.object({
  oobCodes: z.array(z.object({ email: z.string(), requestType: z.string(), oobLink: z.string() })),
});

/** The link of the latest mail to an address. */
export async function linkTo(email: string): Promise<string> {
  const [host, project] = [process.env['FIREBASE_AUTH_EMULATOR_HOST'], process.env['GCLOUD_PROJECT']];
  const response = await fetch(`http://${host}/emulator/v1/projects/${project}/oobCodes`);
  const { oobCodes } = codes.parse(await response.json());
  const found = oobCodes.findLast((one) => one.email === email && one.requestType === 'EMAIL_SIGNIN');
  assert.ok(found, `no mail was sent to ${email}`);
  return found.oobLink;
}
