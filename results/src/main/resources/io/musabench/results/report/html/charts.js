'use strict';

/**
 * Draws the chart specifications of the page with uPlot, and nothing else: what is in them comes
 * from the report's data, how numbers and texts read comes from the page (`say`).
 */
const Charts = (() => {
  const DASH = {MEASURED: [], BASE: [], PREDICTED: [8, 5], SHEET: [2, 4], LIMIT: [10, 4, 2, 4]};
  const PALETTE = {MEASURED: 'series', BASE: 'series', PREDICTED: 'predicted', SHEET: 'sheet'};
  const SIZE = {series: 8, predicted: 8, sheet: 2};
  const HEIGHT = 320;
  const FONT = '12px system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif';

  function variable(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  /** Colour, dash and mark of every series: its kind first, then its number within the kind. */
  function styles(spec) {
    const counts = {};
    return spec.series.map(series => {
      const palette = PALETTE[series.kind];
      const n = (counts[palette] = (counts[palette] ?? -1) + 1);
      const colour = palette === undefined ? '--limit' : `--${palette}-${1 + n % SIZE[palette]}`;
      return {colour: variable(colour), dash: DASH[series.kind], mark: n, kind: series.kind};
    });
  }

  /** Measured marks are filled, predicted ones hollow, those of data sheets crosses. */
  function mark(ctx, x, y, r, style) {
    ctx.save();
    ctx.strokeStyle = style.colour;
    ctx.fillStyle = style.colour;
    ctx.lineWidth = r / 3;
    ctx.beginPath();
    if (style.kind === 'SHEET') {
      ctx.moveTo(x - r, y - r);
      ctx.lineTo(x + r, y + r);
      ctx.moveTo(x + r, y - r);
      ctx.lineTo(x - r, y + r);
      ctx.stroke();
    } else {
      switch (style.mark % 4) {
        case 0:
          ctx.arc(x, y, r, 0, 2 * Math.PI);
          break;
        case 1:
          ctx.rect(x - r, y - r, 2 * r, 2 * r);
          break;
        case 2:
          ctx.moveTo(x, y - 1.2 * r);
          ctx.lineTo(x + 1.2 * r, y + r);
          ctx.lineTo(x - 1.2 * r, y + r);
          ctx.closePath();
          break;
        default:
          ctx.moveTo(x, y - 1.4 * r);
          ctx.lineTo(x + 1.4 * r, y);
          ctx.lineTo(x, y + 1.4 * r);
          ctx.lineTo(x - 1.4 * r, y);
          ctx.closePath();
      }
      if (style.kind === 'PREDICTED') {
        ctx.fillStyle = variable('--ground');
        ctx.fill();
        ctx.stroke();
      } else {
        ctx.fill();
      }
    }
    ctx.restore();
  }

  /** Fills of a pile: a colour and lines in it, so that neighbours differ without colours too. */
  function fill(ctx, style, predicted) {
    const size = 10 * devicePixelRatio;
    const tile = document.createElement('canvas');
    tile.width = tile.height = size;
    const t = tile.getContext('2d');
    t.fillStyle = style.colour;
    t.fillRect(0, 0, size, size);
    t.strokeStyle = variable('--ground');
    t.lineWidth = (predicted ? 2.2 : 1.2) * devicePixelRatio;
    t.beginPath();
    const pattern = style.mark % 4;
    if (predicted || pattern === 1 || pattern === 3) {
      t.moveTo(0, size);
      t.lineTo(size, 0);
      t.moveTo(-size / 2, size / 2);
      t.lineTo(size / 2, -size / 2);
      t.moveTo(size / 2, size * 1.5);
      t.lineTo(size * 1.5, size / 2);
    }
    if (pattern === 2 || pattern === 3) {
      t.moveTo(0, size / 2);
      t.lineTo(size, size / 2);
    }
    if (Math.floor(style.mark / 8) % 2 === 1) {
      t.moveTo(size / 2, 0);
      t.lineTo(size / 2, size);
    }
    t.stroke();
    return ctx.createPattern(tile, 'repeat');
  }

  /** Thin slanted lines: the ground of a predicted interval. */
  function hatch(ctx, colour) {
    const size = 7 * devicePixelRatio;
    const tile = document.createElement('canvas');
    tile.width = tile.height = size;
    const t = tile.getContext('2d');
    t.strokeStyle = colour;
    t.lineWidth = devicePixelRatio;
    t.beginPath();
    t.moveTo(0, size);
    t.lineTo(size, 0);
    t.stroke();
    return ctx.createPattern(tile, 'repeat');
  }

  /** About four round numbers, for a range that holds no two of 1, 2 and 5 times a power of ten. */
  function plainSplits(min, max) {
    const rough = (max - min) / 4;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(m => m * power).find(v => v >= rough);
    const all = [];
    for (let v = Math.ceil(min / step) * step; v <= max; v += step) {
      all.push(v);
    }
    return all;
  }

  /** Ticks at 1, 2 and 5 of each power of ten, or at the powers alone where there are many. */
  function logSplits(min, max) {
    const all = [];
    const powers = [];
    for (let e = Math.floor(Math.log10(min)); e <= Math.ceil(Math.log10(max)); e++) {
      for (const m of [1, 2, 5]) {
        const v = m * 10 ** e;
        if (v >= min * 0.999 && v <= max * 1.001) {
          all.push(v);
          if (m === 1) {
            powers.push(v);
          }
        }
      }
    }
    if (all.length < 2) {
      return plainSplits(min, max);
    }
    return all.length > 9 && powers.length > 1 ? powers : all;
  }

  function range(min, max, log, spare) {
    if (!(min <= max)) {
      return log ? [1, 10] : [0, 1];
    }
    if (log) {
      const reach = Math.max(Math.pow(max / min, spare), 1.15);
      return [min / reach, max * reach];
    }
    const reach = (max - min) * spare || Math.abs(max) * 0.1 || 1;
    return [min - reach, max + reach];
  }

  /**
   * Points in the order of x, each in a row of its own: two series may have the same x, and a
   * series two points at it.
   */
  function rows(spec, keep) {
    const all = [];
    spec.series.forEach((series, s) => {
      series.x.forEach((x, i) => {
        const positive = !(spec.x.log && x <= 0) && !(spec.y.log && series.y[i] <= 0);
        if (positive && (series.cases[i] < 0 || keep(series.cases[i]))) {
          all.push({x, y: series.y[i], low: series.low[i], high: series.high[i],
            s, i, caseIndex: series.cases[i]});
        }
      });
    });
    return all.sort((a, b) => a.x - b.x || a.s - b.s || a.i - b.i);
  }

  function bounds(points, spec) {
    let min = Infinity;
    let max = -Infinity;
    for (const p of points) {
      for (const v of [p.y, p.low, p.high]) {
        if (v !== null && v !== undefined && !(spec.y.log && v <= 0)) {
          min = Math.min(min, v);
          max = Math.max(max, v);
        }
      }
    }
    return [min, max];
  }

  function axisText(axis, say) {
    return say.text(axis.label);
  }

  function ticks(axis, say) {
    return (u, splits) => splits.map(v => v === null ? '' : say.value(v, axis.type, true));
  }

  /** Categories: as many names as fit, slanted; long ones differ at their end more often than in the middle. */
  function categoryAxis(names, width) {
    const every = Math.max(1, Math.ceil(names.length * 18 / Math.max(100, width - 80)));
    const short = names.map(n => (n.length > 26 ? n.slice(0, 12) + '…' + n.slice(-13) : n));
    const slanted = names.length > 1 && Math.max(...short.map(n => n.length)) > 5;
    return {
      splits: () => names.map((n, i) => i).filter(i => i % every === 0),
      values: (u, splits) => splits.map(i => short[i] ?? ''),
      rotate: slanted ? -45 : 0,
      size: slanted ? 24 + 5.2 * Math.max(...short.map(n => n.length)) : 36,
      gap: 4,
    };
  }

  function common() {
    return {
      stroke: variable('--text'),
      font: FONT,
      labelFont: FONT,
      labelGap: 2,
      grid: {stroke: variable('--grid'), width: 1},
      ticks: {stroke: variable('--line'), width: 1, size: 5},
    };
  }

  /** Piles: each drawn from nothing to the sum of those up to it, the highest first. */
  function pile(spec, points, style) {
    const names = spec.x.categories;
    const sums = new Array(names.length).fill(0);
    const tops = spec.series.map((series, s) => {
      for (const p of points) {
        if (p.s === s) {
          sums[p.x] += p.y;
        }
      }
      return sums.map((v, i) => (v > 0 && points.some(p => p.x === i) ? v : null));
    });
    const data = [names.map((n, i) => i), ...tops.slice().reverse()];
    const series = spec.series.map((of, s) => ({
      label: String(s),
      stroke: variable('--ground'),
      width: 1,
      fill: u => fill(u.ctx, style[s], of.kind !== 'MEASURED'),
      paths: uPlot.paths.bars({size: [0.7, 90]}),
      points: {show: false},
    })).reverse();
    return {data, series, max: Math.max(0, ...sums)};
  }

  function lines(spec, points, style) {
    const data = [points.map(p => p.x)];
    const series = spec.series.map((of, s) => {
      data.push(points.map(p => (p.s === s ? p.y : null)));
      const joined = of.shape !== 'POINTS';
      return {
        label: String(s),
        stroke: style[s].colour,
        width: 2,
        dash: style[s].dash,
        spanGaps: true,
        points: {show: false},
        ...(joined ? {} : {paths: () => null}),
      };
    });
    return {data, series};
  }

  /** Stairs as a line: to each x at the height before it, then up. */
  function stairs(spec) {
    return {
      ...spec,
      series: spec.series.map(series => {
        if (series.shape !== 'STEPS') {
          return series;
        }
        const s = {...series, x: [], y: [], low: [], high: [], cases: []};
        series.x.forEach((x, i) => {
          if (i > 0) {
            s.x.push(x);
            s.y.push(series.y[i - 1]);
            s.low.push(null);
            s.high.push(null);
            s.cases.push(series.cases[i]);
          }
          s.x.push(x);
          s.y.push(series.y[i]);
          s.low.push(null);
          s.high.push(null);
          s.cases.push(series.cases[i]);
        });
        return s;
      }),
    };
  }

  /** Intervals under the lines: a hatched band of what is predicted, a whisker of the rest. */
  function intervals(u, spec, points, style) {
    const ctx = u.ctx;
    const px = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    spec.series.forEach((series, s) => {
      const of = points.filter(p => p.s === s && p.low !== null && p.high !== null);
      const inside = p => !(spec.y.log && p.low <= 0);
      const at = (p, v) => [u.valToPos(p.x, 'x', true), u.valToPos(v, 'y', true)];
      if (series.kind !== 'MEASURED' && series.shape === 'LINE' && of.length > 1) {
        ctx.beginPath();
        of.filter(inside).forEach((p, i) => (i ? ctx.lineTo(...at(p, p.high)) : ctx.moveTo(...at(p, p.high))));
        of.filter(inside).reverse().forEach(p => ctx.lineTo(...at(p, p.low)));
        ctx.closePath();
        ctx.fillStyle = hatch(ctx, style[s].colour);
        ctx.fill();
      } else {
        ctx.strokeStyle = style[s].colour;
        ctx.lineWidth = (series.kind === 'LIMIT' ? 1 : 1.5) * px;
        ctx.setLineDash(series.kind === 'MEASURED' ? [] : style[s].dash.map(d => d * px / 2));
        const cap = (series.kind === 'LIMIT' ? 9 : 4) * px;
        for (const p of of.filter(inside)) {
          const [x, low] = at(p, p.low);
          const high = at(p, p.high)[1];
          ctx.beginPath();
          ctx.moveTo(x, low);
          ctx.lineTo(x, high);
          ctx.moveTo(x - cap, low);
          ctx.lineTo(x + cap, low);
          ctx.moveTo(x - cap, high);
          ctx.lineTo(x + cap, high);
          ctx.stroke();
        }
      }
    });
    ctx.restore();
  }

  function marks(u, spec, points, style) {
    const ctx = u.ctx;
    const many = points.length > 400;
    const r = (many ? 2.5 : 4) * devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left - r, u.bbox.top - r, u.bbox.width + 2 * r, u.bbox.height + 2 * r);
    ctx.clip();
    for (const p of points) {
      const shape = spec.series[p.s].shape;
      const bracket = spec.series[p.s].kind === 'LIMIT';
      if (!bracket && (shape === 'POINTS' || shape === 'LINE')) {
        mark(ctx, u.valToPos(p.x, 'x', true), u.valToPos(p.y, 'y', true), r, style[p.s]);
      }
    }
    ctx.restore();
  }

  /**
   * Draws a chart into an element and answers what can be done with it: `select(step)` moves to
   * another point, `resize()` fits it to the element, `destroy()`.
   *
   * @param keep tells whether the points of a case are shown
   * @param say texts and values in the page's language
   * @param told takes a point that the mouse or a key is at, or null
   * @param fixed width in pixels; 0: that of the element
   */
  function draw(element, spec, keep, say, told, fixed) {
    const style = styles(spec);
    const stacked = spec.series.some(s => s.shape === 'STACK');
    const source = rows(spec, keep);
    const shown = stacked ? source : rows(stairs(spec), keep);
    const width = () => fixed || Math.max(240, element.clientWidth);
    const names = spec.x.categories;
    const made = stacked ? pile(spec, source, style) : lines(spec, shown, style);
    const [low, high] = bounds(shown, spec);
    const xs = shown.map(p => p.x);
    const xRange = names
      ? [-0.6, names.length - 0.4]
      : range(Math.min(...ends(xs)), Math.max(...ends(xs)), spec.x.log, 0.04);
    const yRange = stacked
      ? [0, made.max * 1.05 || 1]
      : range(low, high, spec.y.log, 0.06);
    if (!stacked && !spec.y.log && low >= 0 && spec.y.type !== 'CHANGE') {
      yRange[0] = 0;
    }
    if (!names && !spec.x.log && xs.length && ends(xs)[0] >= 0 && spec.x.fromZero !== false) {
      xRange[0] = 0;
    }
    const distinct = [...new Set(xs)];
    const options = {
      width: width(),
      height: HEIGHT + (names ? 60 : 0),
      legend: {show: false},
      cursor: {drag: {x: false, y: false}, points: {show: false}, x: false, y: false},
      padding: [12, names ? Math.min(90, 14 + 3.6 * (names[names.length - 1] ?? '').length) : 14, 4, 4],
      scales: {
        x: {time: false, distr: spec.x.log ? 3 : 1, range: () => xRange},
        y: {distr: spec.y.log ? 3 : 1, range: () => yRange},
      },
      axes: [
        {
          ...common(),
          label: axisText(spec.x, say),
          labelSize: 20,
          ...(names
            ? categoryAxis(names, width())
            : {
                values: ticks(spec.x, say),
                size: 34,
                space: 55,
                ...(spec.x.log
                  ? {
                      filter: (u, splits) => splits,
                      splits: () =>
                        distinct.length <= 12 && spec.x.type === 'COUNT'
                          ? distinct
                          : logSplits(...xRange),
                    }
                  : {}),
              }),
        },
        {
          ...common(),
          label: axisText(spec.y, say),
          labelSize: 22,
          size: 68,
          values: ticks(spec.y, say),
          ...(spec.y.log
            ? {filter: (u, splits) => splits, splits: () => logSplits(...yRange)}
            : {}),
        },
      ],
      series: [{}, ...made.series],
      hooks: {
        drawAxes: [u => stacked || intervals(u, spec, source, style)],
        draw: [u => stacked || marks(u, spec, source, style)],
        setCursor: [u => told && hover(u)],
      },
    };
    const ring = document.createElement('div');
    let at = -1;

    function where(u, p) {
      let top = p.y;
      if (stacked) {
        top = source.filter(q => q.x === p.x && q.s <= p.s).reduce((sum, q) => sum + q.y, 0);
      }
      return [u.valToPos(p.x, 'x'), u.valToPos(top, 'y')];
    }

    function hover(u) {
      const {left, top} = u.cursor;
      if (left === null || left === undefined || left < 0) {
        return;
      }
      let best = -1;
      let least = Infinity;
      source.forEach((p, i) => {
        const [x, y] = where(u, p);
        const d = (x - left) ** 2 + (y - top) ** 2 * (stacked && y > top + 2 ? 9 : 1);
        if (d < least) {
          least = d;
          best = i;
        }
      });
      show(u, best);
    }

    function show(u, index) {
      at = index;
      const p = source[index];
      ring.hidden = !p;
      if (p) {
        const [x, y] = where(u, p);
        ring.style.left = x - 8 + 'px';
        ring.style.top = y - 8 + 'px';
      }
      told(p ?? null);
    }

    const plot = new uPlot(options, made.data, element);
    ring.className = 'ring';
    ring.hidden = true;
    plot.over.append(ring);
    return {
      points: source.length,
      select(step) {
        if (source.length) {
          const next = at < 0 ? (step < 0 ? source.length - 1 : 0) : at + step;
          show(plot, Math.max(0, Math.min(source.length - 1, next)));
        }
      },
      edge(last) {
        show(plot, last ? source.length - 1 : 0);
      },
      resize() {
        if (width() !== plot.width) {
          plot.setSize({width: width(), height: options.height});
          ring.hidden = true;
        }
      },
      destroy() {
        plot.destroy();
      },
    };
  }

  /** First and last of sorted values; spread over arguments, thousands would be too many. */
  function ends(values) {
    return values.length ? [values[0], values[values.length - 1]] : [NaN];
  }

  /** The mark, line or fill of a series for a legend. */
  function swatch(spec, s) {
    const style = styles(spec)[s];
    const canvas = document.createElement('canvas');
    const px = devicePixelRatio;
    canvas.width = 30 * px;
    canvas.height = 14 * px;
    canvas.style.width = '30px';
    canvas.style.height = '14px';
    canvas.setAttribute('aria-hidden', 'true');
    const ctx = canvas.getContext('2d');
    const shape = spec.series[s].shape;
    if (shape === 'STACK') {
      ctx.fillStyle = fill(ctx, style, spec.series[s].kind !== 'MEASURED');
      ctx.fillRect(0, 0, canvas.width, canvas.height);
      return canvas;
    }
    if (shape !== 'POINTS' || style.kind === 'LIMIT') {
      ctx.strokeStyle = style.colour;
      ctx.lineWidth = 2 * px;
      ctx.setLineDash(style.dash.map(d => d * px));
      ctx.beginPath();
      ctx.moveTo(0, 7 * px);
      ctx.lineTo(30 * px, 7 * px);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    if ((shape === 'POINTS' || shape === 'LINE') && style.kind !== 'LIMIT') {
      mark(ctx, 15 * px, 7 * px, 4 * px, style);
    }
    return canvas;
  }

  return {draw, swatch};
})();
