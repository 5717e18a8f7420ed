import { hosts } from '../outside/names.ts'
import type { Report } from '../report.ts'
import type { World } from '../world.ts'

export type Step = (world: World, report: Report, planted: string) => Promise<void>

export const at = (path: string) => `https://${hosts.node}${path}`
export const atApi = (path: string) => `https://${hosts.api}${path}`

// biome-ignore lint/suspicious/noExplicitAny: answers are read by hand here
export const jsonOf = ({ text }: { text: string }): any => {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** What an answer that was not expected says. */
export const brief = ({ status, text }: { status: number; text: string }) => `${status} ${text.slice(0, 300)}`
