import type { Report } from '../run.ts'
import { badge } from './badge.ts'
import { htmlReport } from './html.ts'
import { junitReport } from './junit.ts'
import { sarifReport } from './sarif.ts'
import { textReport } from './text.ts'

export const reportFormats = {
  text: textReport,
  json: (report: Report) => `${JSON.stringify(report, null, 2)}\n`,
  junit: junitReport,
  sarif: sarifReport,
  html: htmlReport,
  badge,
} as const

export type ReportFormat = keyof typeof reportFormats
