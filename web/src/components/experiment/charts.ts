// The further charts, and charts as files: what most visits do without is one part. With one for each, what they share
// with the first page would be cut into a dozen files.
export { figure, toPng } from '../figure';
export { PairsTab, ScatterTab, SlicesTab } from './Explore';
export { TimelineTab } from './Timeline';
