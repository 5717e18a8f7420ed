import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const defaultPlaces = [
  process.env['CHROMIUM'],
  // The same browser without a window to draw starts sooner and does less.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** A Chromium of this machine, or undefined; `CHROMIUM` names another one. */
export const chromiumPath = defaultPlaces.find((path) => path !== undefined && existsSync(path))

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '.screenshots')

export type Visit = { page: Page /** What the browser complained about. */; complaints: string[] }

/** A second list replaces that of playwright, so what of it keeps pages as they are and the network quiet is repeated. */
const withoutFeatures = [
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'PaintHolding', 'AvoidCorsURLLoaderRestartOnRedirect'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
  // Pages of the window itself, which nobody sees: loading them takes longer than most of the tests.
  ...['PreloadTopChromeWebUI', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  // A process for the page after this one.
  'SpareRendererForSitePerProcess',
]

const args = [
  // Containers give no user namespace and little shared memory.
  ...['--no-sandbox', '--disable-dev-shm-usage'],
  ...['--disable-gpu', '--disable-gpu-compositing', '--disable-software-rasterizer'],
  // One process shows all pages, and no code runs long enough to be worth its best compiler.
  ...['--renderer-process-limit=1', '--disable-site-isolation-trials', '--js-flags=--no-opt'],
  `--disable-features=${withoutFeatures.join()}`,
]

export async function openBrowser(): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('no Chromium was found; install one or set CHROMIUM to its path')
  return chromium.launch({ executablePath: chromiumPath, args })
}

/** A page that notes every error, except the refusals a purchase begins with. */
export async function openPage(context: BrowserContext): Promise<Visit> {
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return
    const text = message.text()
    // The browser reports every answer above 399; those that are part of the way are none to complain about.
    const expected =
      /status of (?:402|403)/.test(text) ||
      (/status of 404/.test(text) && /\/v1\/subscriptions$/.test(message.location().url))
    if (!expected) complaints.push(`${message.type()}: ${text} (${message.location().url})`)
  })
  return { page, complaints }
}

/** For people who want to look, with SCREENSHOTS=1: painting is most of what a browser without a screen does. */
export async function takeSnapshot(page: Page, name: string, fullPage = false): Promise<void> {
  if (process.env['SCREENSHOTS'] === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage })
}
