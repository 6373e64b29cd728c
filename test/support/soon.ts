/** Waits until the condition is true. If it stays false, the test fails by its timeout. */
export async function soon(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}
