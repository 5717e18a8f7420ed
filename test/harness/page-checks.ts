import { readFileSync } from 'node:fs'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(new URL('./in-page.js', import.meta.url), 'utf8')

const inPage = <T>(page: Page, call: string, given?: unknown): Promise<T> =>
  page.evaluate<T>(`${source}\nassayChecks.${call}(${JSON.stringify(given) ?? ''})`)

/** With the whole of axe, which is put into the page once, or with some of its rules. */
export async function inaccessible(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>('globalThis.axe !== undefined'))) await page.evaluate(axe.source)
  return inPage(page, 'inaccessible', rules)
}
export const overflowPx = (page: Page) => inPage<number>(page, 'overflowPx')
export const loadedBytes = (page: Page) => inPage<number>(page, 'loadedBytes')
export const codeBytes = (page: Page) => inPage<number>(page, 'codeBytes')
/** Id of what has the focus, or its text. */
export const focused = (page: Page) => inPage<string>(page, 'focused')

/** A wallet as browsers have them, that names an account and signs nothing; what it was asked is in `asked`. */
export const strangeWallet = `
  globalThis.asked = []
  globalThis.ethereum = {
    request: async ({ method }) => {
      asked.push(method)
      return method === 'eth_requestAccounts' ? ['0x1111111111111111111111111111111111111111'] : null
    },
  }
`
