import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type EvidenceReport, parseEvidence, signRequest, verifyEvidence } from '../packages/sdk/src/index.ts'
import { sentence } from '../packages/web/src/ui/format.ts'
import { chromiumPath, openBrowser, openPage, takeSnapshot, type Visit } from './harness/browser.ts'
import { injectWallet, serveAt } from './harness/browser-wallet.ts'
import { type LocalSite, openLocalSite } from './harness/local-site.ts'
import { codeBytes, focused, inaccessible, loadedBytes, overflowPx, strangeWallet } from './harness/page-checks.ts'
import { postJson } from './harness/post-json.ts'
import { productionOrigin, startProductionNode } from './harness/production-node.ts'
import { readEvidenceVectors } from './harness/read-evidence-vectors.ts'
import { buy, echoPath, openTill, type TillFixture } from './harness/till-fixture.ts'

const coldWallet = `0x${'11'.repeat(20)}`
const required = process.env['CI'] === 'true'
/** Every evidence vector instead of some with each outcome of each check, and each theme at each width instead of each of them once. */
const inFull = process.env['ASSAY_PROOFS'] !== undefined
const leftOut = chromiumPath === undefined && !required
if (leftOut)
  process.stderr.write('left out: the console in a real browser. No Chromium was found; install one or set CHROMIUM.\n')

const pages = [
  ['start', '#/', 'Answers you can check, paid by the call'],
  ['token', '#/token', 'Who controls a token?'],
  ['matrix', '#/matrix', 'Squeeze matrix'],
  ['search', '#/search', 'Find sources to cite'],
  ['sources', '#/sources', 'Sources'],
  ['source', '#/sources/token-control.test', 'token-control.test'],
  ['register', '#/sources/register', 'Register your site'],
  ['explorer', '#/explorer', 'Explorer'],
  ['stream', '#/stream', 'Intent stream'],
  ['options', '#/options', 'Topic options'],
  ['wallet', '#/wallet', 'Wallet'],
  ['verify', '#/verify', 'Verify an answer'],
  ['operator', '#/operator', 'Operator'],
] as const

const rulesOfLayout = ['color-contrast', 'scrollable-region-focusable']

describe.skipIf(leftOut)('the console in a real browser', () => {
  let till: TillFixture
  let site: LocalSite
  let browser: Browser
  let context: BrowserContext
  let token: string

  beforeAll(async () => {
    const words = 'Running text about how short interest is collected and published. '.repeat(12)
    site = await openLocalSite({ '/': `<title>Mine</title><p>${words}</p>` })
    const env = {
      MATRIX: '{"demo":"small"}',
      INTENTS: '{"demo_calls_per_second":0.05}',
      WITHDRAW_TO: coldWallet,
      DEMO_HOSTS: `mine.test=127.0.0.1:${site.port}`,
    }
    ;[till, browser] = await Promise.all([openTill({ env }), openBrowser()])
    context = await browser.newContext({ reducedMotion: 'reduce' })
    const index = (await (await fetch(till.node.url)).json()) as {
      demo: { tokens: { key: string; address: string }[] }
    }
    // The first visitor waits for the build, and on a busy machine is asked to retry later.
    const page = () => fetch(till.node.url, { headers: { accept: 'text/html' } })
    await vi.waitFor(async () => expect((await page()).status).toBe(200), { timeout: 60_000, interval: 200 })
    // While it is open, all pages have one process and the code that it has compiled.
    await (await context.newPage()).goto(`${till.node.url}/llms.txt`)
    token = index.demo.tokens.find(({ key }) => key === 'seizable')?.address ?? ''
  }, 240_000)
  afterAll(async () => {
    await browser?.close()
    await till?.close()
    await site?.close()
  }, 120_000)

  /** In a separate page, which leaves nothing behind but the code that the browser has compiled. */
  const within = async (work: (visit: Visit) => Promise<void>, width = 1280) => {
    const visit = await openPage(context)
    const { page } = visit
    await page.setViewportSize({ width, height: 900 })
    await work(visit).finally(async () => {
      // A page may still be asking for something when the test has seen enough.
      for (const routed of [page, context]) await routed.unrouteAll({ behavior: 'ignoreErrors' })
      await page.evaluate('localStorage.clear()')
      await page.close()
    })
  }
  const go = (page: Page, hash: string) => page.goto(`${till.node.url}/${hash}`)
  const settled = (page: Page) =>
    expect
      .poll(() => page.locator('.waiting:not(li), .badge:text-is("checking signature")').count(), { timeout: 30_000 })
      .toBe(0)
  const pay = async (page: Page, button: Locator) => {
    await button.click()
    const dialog = page.getByRole('dialog').last()
    await dialog.getByRole('button', { name: /^Pay / }).click()
    await page.getByText('Signature verified', { exact: true }).first().waitFor()
  }

  test('programs still get the index, people the page, and both may be asked for with HEAD', async () => {
    const asked = (accept?: string, method = 'GET') =>
      fetch(till.node.url, { method, headers: accept === undefined ? {} : { accept } })
    const [plain, json, html, head] = await Promise.all([
      asked(),
      asked('application/json'),
      asked('text/html,application/xhtml+xml,*/*;q=0.8'),
      asked('text/html', 'HEAD'),
    ])
    for (const answer of [plain, json]) expect(answer.headers.get('content-type')).toBe('application/json')
    expect(((await plain.json()) as { service: string }).service).toBe('Assay')
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html.headers.get('content-security-policy')).toMatch(/script-src 'self';.*frame-ancestors 'none'/)
    expect(html.headers.get('vary')).toBe('Accept')
    expect(html.headers.has('signature')).toBe(true)
    expect(head.status).toBe(200)
    const script = /src="(\/console\/console-[^"]+\.js)"/.exec(await html.text())?.[1]
    const asset = await fetch(`${till.node.url}${script}`, { headers: { 'accept-encoding': 'br' } })
    expect(asset.headers.get('content-encoding')).toBe('br')
    expect(asset.headers.get('cache-control')).toContain('immutable')
    expect((await fetch(`${till.node.url}/console/console-missing.js`)).status).toBe(404)
  })

  test('the first view takes less than 40 kB of code, and less than 150 kB in all', async () => {
    await within(async ({ page }) => {
      await go(page, '')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
      const bytes = await loadedBytes(page)
      expect(bytes).toBeGreaterThan(10_000)
      expect(bytes).toBeLessThan(150_000)
      expect(await codeBytes(page)).toBeLessThan(40_000)
    })
  }, 120_000)

  test('every page opens by day, and by night on a phone, without errors and clean under axe', async () => {
    await within(async ({ page, complaints }) => {
      const seen: Record<string, unknown>[] = []
      for (const [name, hash, title] of pages) {
        await page.setViewportSize({ width: 1280, height: 900 })
        await page.emulateMedia({ colorScheme: 'light' })
        await go(page, hash)
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await settled(page)
        await takeSnapshot(page, `${name}-light`, true)
        const byDay = await inaccessible(page)
        await page.emulateMedia({ colorScheme: 'dark' })
        await page.waitForFunction(`matchMedia('(prefers-color-scheme: dark)').matches`)
        await takeSnapshot(page, `${name}-dark`)
        // Another theme changes colours and nothing else.
        const byNight = inFull ? await inaccessible(page, ['color-contrast']) : []
        await page.setViewportSize({ width: 360, height: 780 })
        await takeSnapshot(page, `${name}-phone`)
        // A phone has another menu, which is that of every page; of the rest only places and colours change.
        const onPhone = await inaccessible(page, inFull || name === 'start' ? undefined : rulesOfLayout)
        seen.push({ name, complaints: [...complaints], byDay, byNight, onPhone, overflow: await overflowPx(page) })
      }
      const clean = { complaints: [], byDay: [], byNight: [], onPhone: [], overflow: 0 }
      expect(seen).toEqual(pages.map(([name]) => ({ name, ...clean })))
      await page.getByRole('button', { name: 'Open the menu' }).click()
      await page.getByRole('link', { name: 'Verifier' }).click()
      await page.getByRole('heading', { level: 1, name: 'Verify an answer' }).waitFor()
      await page.getByRole('button', { name: 'Open the menu' }).waitFor()
    })
  }, 240_000)

  test('a contract is written into the book, credit paid in and a mandate given; a demo node asks no outside wallet', async () => {
    await within(async ({ page, complaints }) => {
      const wallet = await injectWallet(page, privateKeyToAccount(generatePrivateKey()))
      await go(page, '#/options')
      // The first series of a new node are listed once its index has been published; the last of them stay longest.
      const ends = page.getByLabel('Ends')
      await ends.waitFor({ timeout: 60_000 })
      await ends.selectOption({ index: (await ends.locator('option').count()) - 1 })
      await page
        .getByRole('link', { name: /^(call|put) at/ })
        .first()
        .click()
      await page.getByText('Write one and earn the premium').click()
      await page.getByLabel(/^Premium/).fill('90')
      await pay(page, page.getByRole('button', { name: 'Offer one for $90' }))
      const offered = page.getByRole('heading', { name: /^Offered: (Call|Put) on / })
      await offered.waitFor()
      expect(await focused(page)).toBe('placed')
      await page.getByText('Your orders and offers').waitFor()
      // What was paid for stays when its series is no longer shown.
      await page.evaluate(`location.hash = '#/options'`)
      await page.getByText('Choose a premium to see what it pays.').waitFor()
      expect(await offered.count()).toBe(1)
      await takeSnapshot(page, 'option-written', true)

      await go(page, '#/wallet')
      const credit = page.getByRole('region', { name: 'Balances' })
      await credit.getByRole('button', { name: 'Top up $5' }).click()
      await page.getByRole('dialog').getByRole('button', { name: /^Pay / }).click()
      await credit.getByText('$5.00', { exact: true }).waitFor()
      await createAndRevokeMandate(page)
      expect(wallet.asked).toEqual([])
      expect(complaints).toEqual([])
    })
  }, 180_000)

  test('the reference is read and tried, pays with the demo wallet, shows code that runs and asks nobody else', async () => {
    await within(async ({ page, complaints }) => {
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).origin))
      // Of all operations only those that are tried: the component takes longest for what nobody opens.
      await page.route('**/openapi/full.json', async (route) => {
        const answer = await route.fetch()
        const whole = (await answer.json()) as { paths: Record<string, unknown> }
        const paths = Object.entries(whole.paths).filter(([path]) => path.startsWith('/v1/sandbox/'))
        await route.fulfill({ response: answer, json: { ...whole, paths: Object.fromEntries(paths) } })
      })
      await page.goto(`${till.node.url}/docs#/Node/sandbox.echo.get`)
      await page.waitForURL('**/reference#/**')
      const operation = page.locator('[id^="operations-Node-sandbox"][id$=".get"]')
      await operation.waitFor({ timeout: 60_000 })
      await operation.getByPlaceholder('message').fill('tried')
      await operation.getByRole('button', { name: 'Execute' }).click()
      await operation.locator('.live-responses-table').getByText('"tried"').waitFor({ timeout: 30_000 })
      await operation.getByText('JavaScript', { exact: true }).click()
      await operation.getByText('createAssayClient').first().waitFor()
      expect(complaints).toEqual([])
      expect(new Set(asked)).toEqual(new Set([till.node.url]))
      await takeSnapshot(page, 'reference', true)
    })
  }, 120_000)

  test('a report is bought, and its evidence verifies in the browser until a byte of it is changed', async () => {
    await within(async ({ page, complaints }) => {
      await go(page, `#/token/${token}`)
      await page.getByRole('heading', { name: 'Issuer controlled' }).waitFor()
      await page.getByText('signature verified').waitFor()
      const timeline = page
        .getByRole('region', { name: 'Control history' })
        .getByRole('list', { name: 'Control history' })
      await timeline
        .getByText(/granted SEIZE_ROLE to/)
        .first()
        .waitFor()
      expect(await timeline.textContent()).not.toMatch(/0x[0-9a-f]{40}/i)
      const blocks = await timeline
        .getByRole('listitem')
        .evaluateAll((items) => items.map((item) => Number(/block (\d+)/.exec(item.textContent ?? '')?.[1])))
      expect(blocks).toEqual([...blocks].sort((a, b) => b - a))
      expect(await timeline.getByText('seize', { exact: true }).count()).toBeGreaterThan(0)
      const holder = page.locator('.graph g[tabindex]').first()
      await holder.focus()
      expect(await holder.getAttribute('aria-label')).toMatch(/^0x\w{40}, .+: /)
      await page.getByRole('button', { name: /Buy the report/ }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('test USDC, worth nothing').waitFor()
      for (const shown of ['Network', 'To', 'good for this request only'])
        expect(await dialog.getByText(shown, { exact: true }).count()).toBe(1)
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await pay(page, page.getByRole('button', { name: /Buy the report/ }))
      await page.getByText('$0.02 settled on Base').waitFor()
      await page.getByText('Receipt verified').waitFor()
      await takeSnapshot(page, 'report', true)
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Save the evidence' }).click(),
      ])
      const evidence = readFileSync(await download.path(), 'utf8')

      await go(page, '#/verify')
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.getByRole('button', { name: 'Choose a file' }).click(),
      ])
      await chooser.setFiles(await download.path())
      await page.getByRole('heading', { name: 'It verifies' }).waitFor()
      await takeSnapshot(page, 'verified', true)
      await page.getByLabel('Or paste it').fill(evidence.replace('"body_base64": "ey', '"body_base64": "fy'))
      await page.getByRole('button', { name: 'Verify', exact: true }).click()
      await page.getByRole('heading', { name: 'It does not verify' }).waitFor()

      await go(page, '#/wallet')
      await page.getByText('Full report on dSEIZE').waitFor()
      await page.getByRole('cell', { name: 'tokens.report' }).first().waitFor()
      expect(complaints).toEqual([])
    })
  }, 180_000)

  test('evidence with each outcome of each check gets the verdict and the checks there that it gets here', async () => {
    const vectors = readEvidenceVectors()
    const seen = new Set<string>()
    await within(async ({ page }) => {
      await go(page, '#/verify')
      await page.getByRole('checkbox').uncheck()
      for (const { name, file, args, expected } of vectors) {
        const evidence = parseEvidence(file)
        if (!evidence) throw new Error(`${name} is not evidence`)
        const here: EvidenceReport = await verifyEvidence(evidence)
        // The page takes no trust from outside: only vectors without any have the verdict they name.
        if (args.length === 0) expect(here.ok, name).toBe(expected.ok)
        const checks = here.checks.map((check) => `${sentence(check.name)} ${check.status}`).sort()
        const outcomes = [`${here.ok}`, ...checks]
        if (!inFull && outcomes.every((outcome) => seen.has(outcome))) continue
        for (const outcome of outcomes) seen.add(outcome)
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
              checks,
            }),
          { timeout: 20_000, interval: 50 },
        )
      }
    })
  }, 240_000)

  test('a subscription opens the live feed, which is shown beside the delayed one and charges nothing more', async () => {
    await within(async ({ page, complaints }) => {
      await go(page, '#/matrix')
      const delayed = page.getByRole('region', { name: 'Delayed, free', exact: true })
      await delayed.getByRole('button', { name: 'Next', exact: true }).click()
      await delayed.getByText('Rows 21 to ').waitFor()
      await delayed.getByRole('button', { name: 'Days to cover' }).click()
      await delayed
        .getByRole('columnheader', { name: 'Days to cover' })
        .and(page.locator('[aria-sort=descending]'))
        .waitFor()
      await delayed.getByText('Rows 1 to 20').waitFor()
      await pay(page, page.getByRole('button', { name: 'Subscribe standard on Polygon' }))
      await page.getByText('$250.00 settled on Polygon').waitFor()
      await page.getByRole('button', { name: 'Pull live with the subscription' }).click()
      const live = page.getByRole('region', { name: 'Live', exact: true })
      await live.getByText('Nothing was charged').waitFor()
      await takeSnapshot(page, 'matrix-live', true)
      await live.locator('.symbol').first().click()
      const symbol = page.getByRole('dialog').first()
      await symbol
        .getByText(/as of \d{4}-/)
        .first()
        .waitFor()
      await pay(page, symbol.getByRole('button', { name: /^Show factors/ }))
      const drawing = () => page.evaluate<string>(`document.querySelector('dialog canvas').toDataURL()`)
      await symbol.locator('canvas').waitFor()
      const byDay = await drawing()
      await page.emulateMedia({ colorScheme: 'dark' })
      await expect.poll(drawing).not.toBe(byDay)
      await page.emulateMedia({ colorScheme: 'light' })
      await page.keyboard.press('Escape')
      await page.setViewportSize({ width: 390, height: 844 })
      await page.getByRole('button', { name: /^Extend standard until .* on Base$/ }).waitFor()
      expect(await overflowPx(page)).toBe(0)
      await go(page, '#/wallet')
      await page.getByText('Used today').waitFor()
      expect(complaints).toEqual([])
    }, 1500)
  }, 180_000)

  test('a site is registered step by step, proven by its file and signed for by its wallet', async () => {
    await within(async ({ page, complaints }) => {
      await go(page, '#/sources/register')
      await page.getByLabel('Domain').fill('mine.test')
      await page.getByRole('button', { name: 'Register', exact: true }).click()
      await page.getByRole('heading', { name: '2. Show that it is yours' }).waitFor()
      await page.getByRole('button', { name: 'File', exact: true }).click()
      const proof = (await page.locator('pre.json').textContent()) ?? ''
      site.files.set('/.well-known/citation-market.json', proof)
      await page.getByRole('button', { name: 'Sign and look now' }).click()
      await page.getByText('The payout wallet has signed.').waitFor()
      await takeSnapshot(page, 'registered', true)
      await go(page, '#/sources/mine.test')
      const terms = page.locator('section[aria-labelledby="terms"]')
      await terms.getByText('No rule is set here').waitFor()
      await terms.getByLabel('Path').fill('/news/')
      await terms.getByLabel('Price of a stamp in USD').fill('0.0049')
      await terms.getByRole('button', { name: 'Sign and set' }).click()
      await terms.getByText('must be decimal USD, 0.005 to 1').waitFor()
      await terms.getByLabel('Price of a stamp in USD').fill('0.02')
      await terms.getByLabel('Price of a whole text in USD').fill('0.1')
      await terms.getByRole('button', { name: 'Sign and set' }).click()
      const rule = terms.getByRole('row').filter({ hasText: '/news/' })
      expect((await rule.textContent())?.replace(/[^\w./]/g, '')).toContain('/news/yesyes0.020.1')
      await takeSnapshot(page, 'creator-terms', true)
      await rule.getByRole('button', { name: 'Remove' }).click()
      await terms.getByText('No rule is set here').waitFor()
      // Refused on purpose above.
      expect(complaints.filter((text) => !/status of 400/.test(text))).toEqual([])
    })
  }, 120_000)

  test('the books are shown to the operator alone, who can stop and start payouts', async () => {
    await within(async ({ page, complaints }) => {
      await disputePayment()
      await go(page, '#/operator')
      await page.getByRole('button', { name: 'Sign and show' }).click()
      await page.getByText('This wallet does not operate the node.').waitFor()
      await page.getByRole('button', { name: 'operator', exact: true }).click()
      await page.getByRole('heading', { name: 'Books' }).waitFor()
      await page.getByText('balanced', { exact: true }).waitFor()
      const disputes = page.getByRole('region', { name: 'Disputes' })
      await disputes.getByText(complaint).waitFor()
      await disputes.getByLabel('Reason, shown to the payer').fill('It repeats what was said, as described.')
      await disputes.getByRole('button', { name: 'Reject' }).click()
      await disputes.getByText('None is open.').waitFor()
      const custody = page.getByRole('region', { name: 'Your money in custody' })
      const withdraw = custody.getByRole('button', { name: 'Withdraw' })
      const bottom = async (of: Locator) => of.evaluate((element) => Math.round(element.getBoundingClientRect().bottom))
      expect(await bottom(withdraw)).toBe(await bottom(custody.getByLabel(/^Amount/)))
      await custody.getByLabel(/^Amount/).fill('999999')
      await withdraw.click()
      await custody.getByRole('row', { name: /^(asked|refused) \$999,999.00 / }).waitFor()
      expect(await page.getByRole('region', { name: 'Balances' }).textContent()).not.toContain('eip155:')
      expect(await page.getByRole('region', { name: 'Pauses' }).textContent()).not.toMatch(/(running|paused), changed/)
      await page.getByLabel('Reason, kept in the audit log').fill('drill of the console')
      await page.getByRole('button', { name: 'Pause payouts' }).click()
      await page.getByRole('row', { name: /^Payouts paused .*drill of the console/ }).waitFor()
      await page.getByRole('button', { name: 'Resume payouts' }).click()
      await page.getByRole('button', { name: 'Pause payouts' }).waitFor()
      await page.getByRole('region', { name: 'Audit log' }).getByText('Resume', { exact: true }).first().waitFor()
      await page.getByRole('button', { name: 'Sign and find' }).click()
      await page.getByRole('region', { name: 'Payments found' }).getByRole('link').first().waitFor()
      await page.getByRole('region', { name: 'Revenue, last 30 days' }).getByRole('button').click()
      await page.getByRole('img', { name: /^Net revenue a day/ }).waitFor()
      const customers = page.getByRole('region', { name: 'Customers' })
      await customers.getByRole('button', { name: 'Payments', exact: true }).first().click()
      await page.getByRole('region', { name: 'Payments found' }).waitFor()
      await takeSnapshot(page, 'operator-books', true)
      expect(await inaccessible(page)).toEqual([])
      await page.setViewportSize({ width: 390, height: 844 })
      expect(await overflowPx(page)).toBe(0)
      expect(complaints).toEqual([])
    })
  }, 120_000)

  test('a search is paid for and shows quotes with the score of their source', async () => {
    await within(async ({ page, complaints }) => {
      await go(page, '#/search?q=who%20can%20seize%20a%20token')
      await pay(page, page.getByRole('button', { name: /^Search for/ }))
      await page
        .getByRole('link', { name: /CiteScore of/ })
        .first()
        .waitFor()
      await takeSnapshot(page, 'results', true)
      await page.getByRole('button', { name: 'Copy the quote' }).first().waitFor()
      expect(await page.getByRole('link', { name: 'Open', exact: true }).first().getAttribute('rel')).toContain(
        'noopener',
      )
      await pay(page, page.getByRole('button', { name: /^Cite for/ }).first())
      await page.getByRole('link', { name: 'See the attestation' }).click()
      await page.getByRole('heading', { level: 2, name: /^It (verifies|does not verify)/ }).waitFor()
      await takeSnapshot(page, 'attestation', true)
      const id = /att_\w+/.exec(page.url())?.[0] ?? ''
      // The log takes a moment to sign a head with it.
      await expect
        .poll(
          async () => {
            await go(page, '#/explorer')
            await page.reload()
            await page.getByText('tree head verified').waitFor()
            return page.getByRole('link', { name: id }).count()
          },
          { timeout: 60_000 },
        )
        .toBe(1)
      expect(complaints).toEqual([])
    })
  }, 180_000)

  test('a payment has its own page, found by a filter', async () => {
    await within(async ({ page, complaints }) => {
      await go(page, '#/wallet')
      // Of these points none is usable yet.
      await page.route('**/loyalty/*', async (route) => {
        const answer = await route.fetch()
        const { redeemable, ...body } = (await answer.json()) as { redeemable: object[] }
        const none = redeemable.map((reward) => ({ ...reward, calls: 0 }))
        await route.fulfill({
          response: answer,
          json: { ...body, points: '9000', pending_points: '9000', redeemable: none },
        })
      })
      await page.reload()
      await page.getByText('9,000 more are pending').waitFor()
      expect(
        await page
          .getByRole('button', { name: /^Redeem/ })
          .and(page.locator(':enabled'))
          .count(),
      ).toBe(0)
      await page.getByLabel('Filter the payments').fill('served match')
      await page.getByRole('button', { name: /^Export \d+ as CSV/ }).waitFor()
      await page.getByRole('region', { name: 'Payments' }).getByRole('link').first().click()
      await page.getByRole('heading', { level: 1, name: 'Payment' }).waitFor()
      await page.getByText('Nothing is left to do.').waitFor()
      await settled(page)
      await takeSnapshot(page, 'payment', true)
      await page.getByText('Is the answer wrong?').click()
      await page.getByLabel('What is wrong with it').fill('None of these pages says who can seize a token.')
      await page.getByRole('button', { name: 'Sign and open a dispute' }).click()
      await page.getByText('Dispute open').waitFor()
      expect(complaints).toEqual([])
    })
  }, 120_000)

  test('the keyboard reaches the content first, and a chosen theme stays chosen', async () => {
    await within(async ({ page }) => {
      await go(page, '')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('body').press('Tab')
      expect(await focused(page)).toBe('Skip to the content')
      await page.keyboard.press('Enter')
      expect(await focused(page)).toBe('main')
      await page.getByRole('button', { name: 'Switch to the dark theme' }).click()
      await page.reload()
      await page.getByRole('button', { name: 'Switch to the light theme' }).waitFor()
      expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    })
  }, 120_000)

  test('a hostile name is shown as text, changes nothing around it, and an answer changed on its way is called so', async () => {
    const name = '<img src=x onerror="globalThis.hacked=1"><b>Locked</b>\u202e'
    await within(async ({ page, complaints }) => {
      await page.route(`${till.node.url}/v1/check/*`, async (route) => {
        const answer = await route.fetch()
        const check = (await answer.json()) as { token: Record<string, unknown> }
        await route.fulfill({ response: answer, json: { ...check, token: { ...check.token, name } } })
      })
      await go(page, `#/token/${token}`)
      await page.getByText('onerror="globalThis.hacked=1"').waitFor()
      await page.getByText(/^not verified: /).waitFor()
      expect(await page.locator('main img').count()).toBe(0)
      expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
      await page.goto(`${till.node.url}/#/token/%3Cscript%3EglobalThis.hacked%3D1%3C%2Fscript%3E`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
      // The browser reports that the node knows no such address; whether by then is chance.
      expect(complaints.filter((text) => !/status of 40[04] .*%3Cscript/.test(text))).toEqual([])
    })
  }, 120_000)

  test('outside demo mode a wallet is asked for accounts only, and an unknown asset is never paid', async () => {
    await within(async ({ page }) => {
      await page.route(`${till.node.url}/`, async (route) => {
        if (route.request().headers()['accept'] !== 'application/json') return route.continue()
        const answer = await route.fetch()
        const { demo, ...index } = (await answer.json()) as Record<string, unknown>
        void demo
        await route.fulfill({ response: answer, json: index })
      })
      await page.addInitScript({ content: strangeWallet })
      await go(page, `#/token/${token}`)
      await page.getByRole('button', { name: /Buy the report/ }).click()
      await page.getByRole('button', { name: 'Connect Browser wallet' }).click()
      await page.getByRole('dialog').getByText('No offer fits the policy').waitFor()
      expect(await page.evaluate('asked')).toEqual(['eth_requestAccounts'])
    })
  }, 120_000)

  test('on a production node a report is bought with the wallet of the browser, which signs and sends nothing', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const production = await startProductionNode([till.base, till.polygon])
    onTestFinished(() => production.stop())
    await production.fund(account.address, 5_000_000n)
    await within(async ({ page, complaints }) => {
      await serveAt(context, productionOrigin, production.address)
      const wallet = await injectWallet(page, account)
      await page.goto(`${productionOrigin}/#/token/${token}`)
      await page.getByText('Production node').waitFor()
      expect(wallet.asked).toEqual([])
      await page.getByRole('button', { name: /Buy the report/ }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Connect Test wallet' }).click()
      await dialog.getByText('good for this request only').waitFor()
      expect(await dialog.getByText('test USDC').count()).toBe(0)

      wallet.refuse(true)
      await dialog.getByRole('button', { name: /^Pay / }).click()
      await dialog.getByText('Nothing was signed.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
      wallet.refuse(false)

      await pay(page, page.getByRole('button', { name: /Buy the report/ }))
      await page.getByText('$0.02 settled on Base').waitFor()
      await page.getByText('Receipt verified').waitFor()
      expect(wallet.signed).toMatchObject([
        {
          domain: { chainId: 8453, verifyingContract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' },
          primaryType: 'TransferWithAuthorization',
          message: { from: account.address.toLowerCase(), to: production.payTo.toLowerCase(), value: '20000' },
        },
      ])

      await page.goto(`${productionOrigin}/#/wallet`)
      await createAndRevokeMandate(page)
      expect(wallet.signed[1]).toMatchObject({
        primaryType: 'Mandate',
        message: {
          owner: account.address.toLowerCase(),
          node: productionOrigin,
          capPerCall: '50000',
          capTotal: '5000000',
        },
      })
      const signatures = ['eth_signTypedData_v4', 'personal_sign']
      const harmless = new Set(['eth_requestAccounts', 'eth_chainId', 'wallet_switchEthereumChain', ...signatures])
      expect(wallet.asked.filter((method) => !harmless.has(method))).toEqual([])
      expect(complaints).toEqual([])
    })
  }, 120_000)

  test('what was written and nobody bought is withdrawn, once its payment is final', async () => {
    await within(async ({ page, complaints }) => {
      await go(page, '#/options')
      const withdraw = page.getByRole('button', { name: 'Withdraw' })
      await withdraw.waitFor({ timeout: 90_000 })
      await withdraw.click()
      await withdraw.waitFor({ state: 'detached' })
      await page.getByText('closed', { exact: true }).waitFor()
      expect(complaints).toEqual([])
    })
  }, 180_000)

  const complaint = 'The answer repeats what I said and adds nothing.'
  const disputePayment = async () => {
    const account = await till.newBuyer()
    expect((await buy(account, `${till.node.url}${echoPath}?message=x`)).status).toBe(200)
    const payer = account.address.toLowerCase()
    const { rows } = await till.db.owner.query<{ id: string }>('select id from payment where payer = $1', [payer])
    const url = `${till.node.url}/v1/payments/${rows[0]?.id}/dispute`
    expect((await fetch(await signRequest(url, postJson({ text: complaint }), { account }))).status).toBe(200)
  }
  const delegate = `0x${'12'.repeat(20)}`
  const createAndRevokeMandate = async (page: Page) => {
    await page.getByText('Let an agent spend your credit').click()
    await page.getByLabel('Wallet of the agent').fill(delegate)
    await page.getByRole('button', { name: 'Sign the mandate' }).click()
    const revoke = page.getByRole('button', { name: /^Revoke the mandate/ })
    await revoke.waitFor()
    await takeSnapshot(page, 'mandate', true)
    await revoke.click()
    await revoke.waitFor({ state: 'detached' })
  }
})
