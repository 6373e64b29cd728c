/** A person who uses the deployment's sign-in page in a browser. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { openWindow } from '../../support/browser.ts';
import { linkTo } from '../../support/signInMail.ts';

/** Origin of the deployment that `npm start` or the tests serve at the origin's root. */
export const ORIGIN = process.env['MUSTER_ORIGIN'] ?? '';

/** Signs in and allows the requested access. Returns the page's text after the browser has returned to the app. */
export async function allow(
  browser: Browser,
  url: string,
  person: { readonly email: string; readonly password: string | undefined },
): Promise<string> {
  const context = await openWindow(browser);
  try {
    const page = await context.newPage();
    await page.goto(url);
    const asked = await page.locator('main').innerText();
    assert.match(asked, /wants to act for you/, `${url}\n${asked}`);
    await page.getByLabel('Email').fill(person.email);
    if (person.password === undefined) {
      await page.getByRole('button', { name: 'Email me a sign-in link' }).click();
      await page.getByText('Check your inbox').waitFor();
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
