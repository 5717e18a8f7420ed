export { createListScreening } from './list-file.ts'
export { createRefusedPayers, type RefusedPayers } from './refused-payers.ts'
export { createScreening, type Screening, type ScreeningHit, ScreeningUnavailable } from './screening.ts'
