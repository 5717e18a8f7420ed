import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type EvidenceReport, parseEvidence, verifyEvidence } from '../packages/sdk/src/index.ts'
import { sentence } from '../packages/web/src/ui/format.ts'
import { chromiumPath, openBrowser, openPage } from './harness/browser.ts'
import { readEvidenceVectors } from './harness/read-evidence-vectors.ts'
import { openTill, type TillFixture } from './harness/till-fixture.ts'

const leftOut = chromiumPath === undefined && process.env['CI'] !== 'true'
if (leftOut)
  process.stderr.write('left out: evidence in a real browser. No Chromium was found; install one or set CHROMIUM.\n')

const vectors = readEvidenceVectors()

describe.skipIf(leftOut)('evidence in a real browser', () => {
  let till: TillFixture
  let browser: Browser
  beforeAll(async () => {
    ;[till, browser] = await Promise.all([openTill({ ownShops: ['account', 'sandbox', 'console'] }), openBrowser()])
    // The first visitor waits for the build, and on a busy machine is asked to retry later.
    const page = () => fetch(till.node.url, { headers: { accept: 'text/html' } })
    await vi.waitFor(async () => expect((await page()).status).toBe(200), { timeout: 60_000, interval: 200 })
  }, 240_000)
  afterAll(async () => {
    await browser?.close()
    await till?.close()
  }, 120_000)

  test('every vector gets the verdict and the checks there that it gets here', async () => {
    const context = await browser.newContext()
    const { page } = await openPage(context)
    await page.goto(`${till.node.url}/#/verify`)
    await page.getByRole('checkbox').uncheck()
    for (const { name, file, args, expected } of vectors) {
      const evidence = parseEvidence(file)
      if (!evidence) throw new Error(`${name} is not evidence`)
      const here: EvidenceReport = await verifyEvidence(evidence)
      // The page takes no trust from outside: only vectors without any have the verdict they name.
      if (args.length === 0) expect(here.ok, name).toBe(expected.ok)
      await page.getByRole('textbox').fill(JSON.stringify(file))
      await page.getByRole('button', { name: 'Verify', exact: true }).click()
      const shown = async () => ({
        title: await page.locator('#verified').textContent({ timeout: 10_000 }),
        checks: (
          await page
            .locator('ul.checks li')
            .evaluateAll((list) => list.map((item) => `${item.querySelector('b')?.textContent} ${item.className}`))
        ).sort(),
      })
      await vi.waitFor(
        async () =>
          expect(await shown(), name).toEqual({
            title: here.ok ? 'It verifies' : 'It does not verify',
            checks: here.checks.map((check) => `${sentence(check.name)} ${check.status}`).sort(),
          }),
        { timeout: 20_000, interval: 50 },
      )
    }
    await context.close()
  }, 240_000)
})
