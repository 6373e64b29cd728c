/** Sign-in emails, which the Auth emulator stores instead of sending them. */
import assert from 'node:assert/strict';
import { z } from 'zod';

const codes = z.object({
  oobCodes: z.array(z.object({ email: z.string(), requestType: z.string(), oobLink: z.string() })),
});

/** Returns the sign-in link in the latest email to an address. */
export async function linkTo(email: string): Promise<string> {
  const [host, project] = [process.env['FIREBASE_AUTH_EMULATOR_HOST'], process.env['GCLOUD_PROJECT']];
  const response = await fetch(`http://${host}/emulator/v1/projects/${project}/oobCodes`);
  const { oobCodes } = codes.parse(await response.json());
  const found = oobCodes.findLast((one) => one.email === email && one.requestType === 'EMAIL_SIGNIN');
  assert.ok(found, `no sign-in email was sent to ${email}`);
  return found.oobLink;
}
