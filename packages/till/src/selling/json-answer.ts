import type { AnswerContent } from '../contract/paid-call.ts'

/** A bare JSON object as answer. */
export function jsonAnswer(value: unknown, headers?: Record<string, string>): AnswerContent & { body: string } {
  return {
    status: 200,
    contentType: 'application/json',
    body: JSON.stringify(value),
    ...(headers === undefined ? {} : { headers }),
  }
}
