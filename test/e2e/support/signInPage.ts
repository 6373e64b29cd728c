/** Somebody at the sign-in page of the deployment, with a browser. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { z } from 'zod';

/** `npm start` and the tests put the deployment there too: at the root of an origin. */
export const ORIGIN = process.env['MUSTER_ORIGIN'] ?? '';

const codes = z.object({
  oobCodes: z.array(z.object({ email: z.string(), requestType: z.string(), oobLink: z.string() })),
});

/** Signs in, allows what the page proposes, and waits until the browser is back at the app. */
export async function allow(
  browser: Browser,
  url: string,
  person: { readonly email: string; readonly password: string | undefined },
): Promise<string> {
  const context = await browser.newContext({ locale: 'en-GB' });
  try {
    const page = await context.newPage();
    await page.goto(url);
    const asked = await page.locator('main').innerText();
    assert.match(asked, /It calls itself/, `${url}\n${asked}`);
    await page.getByLabel('Email').fill(person.email);
    if (person.password === undefined) {
      await page.getByRole('button', { name: 'Email me a link' }).click();
      await page.getByText('A mail is on its way').waitFor();
      await page.goto(await linkTo(person.email));
    } else {
      await page.getByLabel('Password').fill(person.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    }
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL((one) => one.origin !== new URL(ORIGIN).origin);
    return asked;
  } finally {
    await context.close();
  }
}

/** The link of a mail that the emulator does not send. */
async function linkTo(email: string): Promise<string> {
  const [host, project] = [process.env['FIREBASE_AUTH_EMULATOR_HOST'], process.env['GCLOUD_PROJECT']];
  const response = await fetch(`http://${host}/emulator/v1/projects/${project}/oobCodes`);
  const { oobCodes } = codes.parse(await response.json());
  const found = oobCodes.findLast((one) => one.email === email && one.requestType === 'EMAIL_SIGNIN');
  assert.ok(found, `no mail was sent to ${email}`);
  return found.oobLink;
}
