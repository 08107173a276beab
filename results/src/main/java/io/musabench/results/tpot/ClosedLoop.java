package io.musabench.results.tpot;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.tpot.Prediction.State;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/**
 * Steady state of a closed loop.
 *
 * <p><b>Whole prompts</b> (token budget 0): the device prefills one request, or runs one decode
 * step for all others. With {@code R} running requests, a decode step {@code T}, a prefill {@code
 * P}, and answers of {@code n + 1} tokens:
 *
 * <pre>
 *   TPOT = T / (1 - rho)                           decodes wait while a prefill runs
 *   rho  = X P (R - 1) / R                         share of time in the prefills of the others
 *   X    = R / (TTFT + n TPOT)                     requests a second (Little's law)
 *   TTFT = P + T/2 (R - 1) / R + rho P / (2 (1 - rho))
 * </pre>
 *
 * <p>TTFT is that of independent arrivals: an M/D/1 queue whose server takes a decode step as a
 * vacation whenever no prefill waits (Doshi, "Queueing systems with vacations", 1986: the wait of
 * the queue and half a vacation). A request never waits for its own prefill while it decodes, so
 * {@code rho} leaves it out: a single request has TPOT = T and TTFT = P exactly. No decode step
 * runs while a request is prefilled, so each decode step has all {@code R} requests in it. The
 * equations are quadratic in {@code rho} and have one solution between 0 and 1. A device that never
 * rests needs {@code R / X = R P + n T}: where the equations give more, that counts, and TTFT is
 * what is left of it.
 *
 * <p><b>Token budget</b>: prompts share steps with the decodes, as in vLLM's V1 scheduler; one that
 * is longer than the budget is cut into {@code k} chunks. Everything advances in steps, so that a
 * request lives {@code k + n} of them. Requests that are prefilled in one step end together, and
 * their successors come together: groups grow to the {@code m} chunks that fill the budget. While a
 * request is prefilled, {@code m - 1} chunks of others fit beside its own; the others meet its
 * decodes, {@code q = (R - 1) k / (n + k (m - 1) / m)} of them in a step. With {@code T(j)} the
 * time of a decode step with {@code j} chunks, {@code TPOT = (1 - q/m) T(0) + q/m T(m)}. A prompt
 * takes the {@code k} steps that it takes alone, or more where decodes leave it less room, and in
 * each of them {@code q (m - 1) / m} chunks of others: together all {@code (R - 1) k}.
 *
 * <p>A step answers at most {@code x = budget / (prompt + n)} requests. With full steps, {@code n
 * x} requests decode and {@code x (n + k + 1/2)} run, where the half is the mean wait for the next
 * step. Both are means and seldom whole, so that the time of a full step lies between those of two
 * whole numbers of decodes. What comes beyond that waits; throughput and TPOT stay as they are. The
 * time of a step has no say in how many requests run: else a faster kernel might let one more run,
 * and TPOT rise.
 *
 * <p><b>TTFT</b> does not follow from the workload, because how arrivals cluster does not. It lies
 * between independent arrivals and a burst (all arrive at once, their prefills follow each other;
 * the mean over them). A closed loop starts as a burst and spreads; what is expected is the middle
 * on a logarithmic scale.
 *
 * <p><b>KV cache</b>: a running request holds {@code input + output/2} tokens on average, which
 * limits {@code R}. Requests are let in by the room for their prompt and grow; where they no longer
 * fit, vLLM drops the last and computes it again later. If all grow together, {@code output /
 * input} of the requests are dropped once.
 *
 * <p>Worked numbers: T = 20 ms, P = 50 ms, 32 requests, 256 output tokens: TPOT 26.0 ms, X = 4.775
 * requests a second, prefill share 0.24, TTFT 67 ms to 835 ms.
 */
public final class ClosedLoop {
  /**
   * From here on queueing for the prefill is a sizeable part of TTFT: an M/D/1 queue waits {@code
   * rho / (2 (1 - rho))} = half a prefill.
   */
  static final double STRAINED_SHARE = 0.5;

  /** Here that queue already waits 4.5 prefills, and a small error of a step has large effects. */
  static final double SATURATED_SHARE = 0.9;

  private ClosedLoop() {}

  /** Predicts the loop from its two steps, measured; everything runs, prompts run whole. */
  public static Prediction predict(StepTimes steps, Workload workload) {
    StepTime decode = StepTime.measured(steps.decode(workload.concurrency()));
    StepTime prefill = StepTime.measured(steps.prefill(workload.inputTokens()));
    Admission all = new Admission(workload.concurrency(), 0, null);
    return wholePrompts(workload, all, decode, prefill, 0);
  }

  /**
   * Predicts the loop from kernel times, without intervals.
   *
   * @throws IllegalArgumentException if not one request fits into the model's context or the KV
   *     cache, or a kernel's time is neither known nor can be assumed
   */
  public static Prediction predict(StepModel model, Workload workload) {
    model.engine().requireContext(workload);
    if (workload.disaggregation() != null) {
      return separate(model, workload);
    }
    return model.engine().tokenBudget() == 0
        ? wholePrompts(model, workload, Admission.of(model, workload, Integer.MAX_VALUE))
        : chunks(model, workload);
  }

  /**
   * Predicts the loop with an interval for each estimate.
   *
   * <p>The errors are those of {@link Intervals}. Nothing is faster than its roof, so the error of
   * an operation that was assumed to reach it goes one way, and no interval reaches below the loop
   * of kernels at their roofs. Throughput lies between that of a burst and that of independent
   * arrivals. What the formulas leave out is not in it.
   */
  public static Prediction predictWithInterval(StepModel model, Workload workload) {
    Prediction middle = predict(model, workload);
    Intervals intervals = Intervals.of(model, middle.decodeStep(), middle.prefillStep());
    Intervals.Numbers numbers = moved -> results(predict(moved.of(model), workload));
    List<Estimate> found = intervals.of(numbers, middle.tpot().provenance());
    double[] roof = intervals.atRoofs(numbers);
    Estimate[] times = new Estimate[4];
    for (int i = 0; i < times.length; i++) {
      times[i] = found.get(i).within(roof[i], Double.POSITIVE_INFINITY);
    }
    Estimate staggered = found.get(4);
    Estimate throughput =
        new Estimate(
                staggered.value(), found.get(5).low(), staggered.high(), staggered.provenance())
            .within(0, roof[4]);
    return new Prediction(
        workload,
        middle.state(),
        middle.bound(),
        middle.decodeStep(),
        middle.prefillStep(),
        times[0],
        times[1],
        times[2],
        times[3],
        throughput,
        middle.runningRequests(),
        middle.waitingRequests(),
        found.get(6).within(0, 1),
        middle.itlAtomAtZero());
  }

  /**
   * What gets an interval: four times, requests a second of both ways to arrive, and the share of
   * time in prefills.
   */
  private static double[] results(Prediction p) {
    return new double[] {
      p.tpot().value(),
      p.ttft().value(),
      p.ttftStaggered().value(),
      p.ttftBurst().value(),
      p.requestsPerSecond(),
      p.burstRequestsPerSecond(),
      p.prefillShare().value()
    };
  }

  /**
   * Which requests run.
   *
   * @param running requests that run, at least 1
   * @param dropped times that a request is computed again, on average
   * @param limit what keeps the others out; null if all run and fit
   */
  private record Admission(double running, double dropped, Bound limit) {
    /** Rounded: what is shown of a mean. */
    int whole() {
      return (int) Math.round(running);
    }

    /** As many as the token budget lets run, on average. */
    Admission with(double requests, Workload w) {
      Bound bound =
          limit == null && Math.round(requests) < w.concurrency() ? Bound.TOKEN_BUDGET : limit;
      return new Admission(requests, dropped, bound);
    }

    /**
     * @param budget most requests that the token budget lets run, on average
     */
    static Admission of(StepModel model, Workload w, double budget) {
      int started = Math.min(w.concurrency(), model.engine().maxRunning());
      double wanted = Math.min(started, budget);
      double kv = model.kvTokens();
      int whole = w.inputTokens() + w.outputTokens();
      String misfit = misfit(model, w);
      if (misfit != null) {
        throw new IllegalArgumentException(misfit);
      }
      double running = Math.min(wanted, Math.floor(kv / w.meanContext()));
      double together = kv / whole;
      double dropped = Math.max(0, Math.min(wanted, kv / w.inputTokens()) / together - 1);
      Bound limit =
          wanted > together
              ? Bound.KV_CAPACITY
              : Math.round(wanted) < started
                  ? Bound.TOKEN_BUDGET
                  : wanted < w.concurrency() ? Bound.RUNNING_LIMIT : null;
      return new Admission(running, dropped, limit);
    }
  }

  /** Why not one request fits into the memory; null if one does. */
  static String misfit(StepModel model, Workload w) {
    if (model.kvTokens() == 0) {
      return model.engine().doesNotFit(model.times().source().roofs());
    }
    int whole = w.inputTokens() + w.outputTokens();
    return model.kvTokens() >= whole
        ? null
        : "The KV cache of "
            + model.engine().layout()
            + " holds "
            + model.kvTokens()
            + " tokens, not even one request of "
            + whole;
  }

  private static Prediction wholePrompts(StepModel model, Workload w, Admission in) {
    int cached = w.cachedTokens(model.engine().pageSize());
    StepTime decode = model.step(decodes(w, in.whole()));
    StepTime prefill = model.prefill(1, w.inputTokens() - cached, cached);
    double again =
        in.dropped() == 0 ? 0 : in.dropped() * model.prefill(1, w.meanContext(), 0).seconds();
    return wholePrompts(w, in, decode, prefill, again);
  }

  /** The decodes of a step: one token each, or the guesses and one; null for none. */
  private static BatchSpec decodes(Workload w, int requests) {
    if (requests == 0) {
      return null;
    }
    int tokens = decoded(w);
    return BatchSpec.uniform(requests, tokens, Math.max(2, w.meanContext()) + tokens - 1);
  }

  /** Tokens of one decode in a step. */
  private static int decoded(Workload w) {
    return w.speculation() == null ? 1 : 1 + w.speculation().guesses();
  }

  /**
   * @param again time that each request spends on being computed again
   */
  private static Prediction wholePrompts(
      Workload w, Admission in, StepTime decode, StepTime prefill, double again) {
    int r = in.whole();
    double t = decode.seconds() + draft(w);
    double p = prefill.seconds();
    double n = gaps(w);
    double others = (r - 1.0) / r;
    double half = others * t / 2;

    double a = p / 2 + half;
    double c = (r - 1) * (p + again);
    double b = p + half + n * t + c;
    double rho = 2 * c / (b + Math.sqrt(b * b - 4 * a * c));

    double step = t / (1 - rho);
    double ttft = half + queued(p, rho);
    // While one request lives, the device prefills as many as run and decodes all its tokens.
    double busy = r * (p + again) + n * t;
    if (ttft + n * step < busy) {
      rho = c / busy;
      step = t / (1 - rho);
      ttft = busy - n * step;
    }
    double rate = r / (ttft + n * step);
    First first = new First(ttft, half + (r + 1) / 2.0 * p);
    return prediction(
        w, in, queue(w, r, rate), decode, prefill, step, first, rate, rate * (p + again), rho);
  }

  /** A prefill and its wait in an M/D/1 queue. */
  private static double queued(double prefill, double load) {
    return prefill + load * prefill / (2 * (1 - load));
  }

  /**
   * Times to the first token once a request is let in.
   *
   * @param staggered for independent arrivals
   * @param burst if all arrive at once; not less
   */
  private record First(double staggered, double burst) {
    First {
      burst = Math.max(staggered, burst);
    }

    double expected() {
      return Math.sqrt(staggered * burst);
    }
  }

  /** Decode steps of a request after its first token. */
  private static double gaps(Workload w) {
    return (w.outputTokens() - 1) / tokensPerStep(w);
  }

  private static double tokensPerStep(Workload w) {
    return w.speculation() == null ? 1 : w.speculation().tokensPerStep();
  }

  private static double draft(Workload w) {
    return w.speculation() == null ? 0 : w.speculation().guesses() * w.speculation().draftSeconds();
  }

  /**
   * @param queue time until a request is let in
   * @param step mean time of a step that a decoding request waits for
   * @param share share of all time that prefills take
   * @param load share that they take of the time of one decoding request
   */
  private static Prediction prediction(
      Workload w,
      Admission in,
      double queue,
      StepTime decode,
      StepTime prefill,
      double step,
      First first,
      double rate,
      double share,
      double load) {
    State state =
        in.limit() != null || load >= SATURATED_SHARE
            ? State.SATURATED
            : load >= STRAINED_SHARE ? State.STRAINED : State.OK;
    Bound bound =
        in.limit() != null ? in.limit() : load >= STRAINED_SHARE ? Bound.PREFILL : decode.bound();
    Provenance provenance = decode.provenance().worse(prefill.provenance());
    return new Prediction(
        w,
        state,
        bound,
        decode,
        prefill,
        Estimate.point(step / tokensPerStep(w), provenance),
        Estimate.point(queue + first.expected(), provenance),
        Estimate.point(queue + first.staggered(), provenance),
        Estimate.point(queue + first.burst(), provenance),
        Estimate.point(rate, provenance),
        in.whole(),
        w.concurrency() - in.whole(),
        Estimate.point(share, provenance),
        w.speculation() == null ? 0 : w.speculation().itlAtomAtZero());
  }

  private static Prediction chunks(StepModel model, Workload w) {
    Prompt prompt = Prompt.of(model, w);
    Admission in = Admission.of(model, w, prompt.mostRequests(w, 0));
    int perRequest = decoded(w);
    if (in.running() == 1 || prompt.budget() <= perRequest) {
      return chunksAlone(model, w, prompt, in);
    }
    double again = in.dropped() * w.meanContext();
    double most = prompt.mostRequests(w, again);
    double running = Math.min(in.running(), most);
    boolean saturated = running == most;

    // Where not a whole number of requests runs, the next larger one stands for it.
    int r =
        Math.max(2, (int) Math.min(Math.ceil(running), 1 + (prompt.budget() - 1.0) / perRequest));
    double n = gaps(w);
    int room = prompt.budget() - (r - 1) * perRequest;
    double k = Math.max(prompt.steps(), (double) prompt.added() / room);
    int chunk = prompt.chunk(room);
    double left = prompt.budget() - (double) r * perRequest;
    double fit = chunk <= perRequest ? r : Math.max(1, left / (chunk - perRequest));
    double q = (r - 1) * k / (n + k * (fit - 1) / fit) * (1 + again / prompt.added());
    double m = Math.min(r - 1, fit);

    StepTime decode = model.step(decodes(w, r));
    StepTime own = model.step(prompt.chunks(1, chunk).plus(decodes(w, r - 1)));
    double without = decode.seconds() + draft(w);
    double alone = own.seconds() + draft(w);
    // Of short prompts, a chunk may have fewer tokens than a decode with its guesses.
    double with = Math.max(without, mixed(model, w, prompt.chunks(m, chunk), r));
    double share = Math.min(1, q / m);
    double all = Math.min(r, fit);
    double crowded =
        Math.max(alone, all == m ? with : mixed(model, w, prompt.chunks(all, chunk), r));
    double crowd = all == 1 ? 0 : share * m * (fit - 1) / fit / (all - 1);
    double prefill = alone + crowd * (crowded - alone);
    double answered = prompt.answered(w, again);
    double full = fullStep(model, w, prompt, Math.min(answered * n, r));
    double step = saturated ? full : Math.min(without + share * (with - without), full);

    double half = (r - 1.0) / r * step / 2;
    // No step answers more than its budget lets it, and then it takes as long as a full one.
    double least = running / answered * full - n * step;
    // Half of the others already decode, on average.
    int free = prompt.budget() - (r - 1) * perRequest / 2;
    double allPrompts =
        model.step(prompt.chunks(Math.min((double) free / chunk, r), chunk)).seconds();
    First first =
        new First(
            saturated ? least : Math.max(half + k * prefill, least),
            half + burst(r, free, prompt.added(), allPrompts, without));
    double rate = running / (first.staggered() + n * step);
    double load = 1 - Math.min(without, step) / step;
    return prediction(
        w,
        in.with(running, w),
        queue(w, running, rate),
        decode,
        own,
        step,
        first,
        rate,
        load,
        load);
  }

  /** Time of a step of {@code r} requests, of which some are prefilled and the others decode. */
  private static double mixed(StepModel model, Workload w, BatchSpec prompts, int r) {
    BatchSpec decoding = decodes(w, r - prompts.size());
    return model.step(decoding == null ? prompts : prompts.plus(decoding)).seconds() + draft(w);
  }

  /** One request at a time, whose prompt takes steps of its own. */
  private static Prediction chunksAlone(StepModel model, Workload w, Prompt prompt, Admission in) {
    StepTime decode = model.step(decodes(w, 1));
    StepTime own = model.step(prompt.chunks(1, prompt.chunk(prompt.budget())));
    double step = decode.seconds() + draft(w);
    double ttft = prompt.steps() * (own.seconds() + draft(w));
    double rate = 1 / (ttft + gaps(w) * step);
    return prediction(
        w,
        in.with(1, w),
        queue(w, 1, rate),
        decode,
        own,
        step,
        new First(ttft, ttft),
        rate,
        rate * ttft,
        0);
  }

  /**
   * A prompt and the steps that it is cut into.
   *
   * @param cached tokens of it whose keys and values are there
   * @param added tokens of it that are computed, at least 1
   * @param budget most tokens of a step
   */
  private record Prompt(int cached, int added, int budget) {
    static Prompt of(StepModel model, Workload w) {
      int cached = w.cachedTokens(model.engine().pageSize());
      return new Prompt(cached, w.inputTokens() - cached, model.engine().tokenBudget());
    }

    /** Steps that it takes if nothing else runs. */
    int steps() {
      return (added + budget - 1) / budget;
    }

    /** Tokens of a chunk where a step has room for so many. */
    int chunk(int room) {
      return Math.min(room, (added + steps() - 1) / steps());
    }

    /** Requests that a step answers if its budget is full: all their tokens together are it. */
    double answered(Workload w, double again) {
      return budget / (added + again + gaps(w) * decoded(w));
    }

    /**
     * Requests that run if the budget of every step is full, on average; more wait to be let in.
     * Each that is answered was there for its prefill, its decodes and, before, half a step.
     *
     * @param again tokens that a request computes once more
     */
    double mostRequests(Workload w, double again) {
      double k = Math.max(steps(), added / (answered(w, again) * (added + again)));
      return Math.max(1, answered(w, again) * (gaps(w) + k + 0.5));
    }

    /** Decodes, and as many tokens of prompts as the budget has room for beside them. */
    BatchSpec filled(BatchSpec decodes) {
      int room = budget - decodes.totalQ();
      return room <= 0 ? decodes : chunks((double) room / chunk(room), chunk(room)).plus(decodes);
    }

    /**
     * So many chunks, of which the last may be a part. Attention is linear in what is cached, so
     * that the chunk in the middle of the prompt stands for all.
     */
    BatchSpec chunks(double count, int tokens) {
      int before = cached + (added - tokens) / 2;
      int whole = (int) count;
      int part = (int) ((count - whole) * tokens);
      BatchSpec all = BatchSpec.uniform(whole, tokens, tokens + before);
      return part == 0 ? all : all.plus(BatchSpec.uniform(1, part, part + before));
    }
  }

  /**
   * Time of a step whose budget is full: decodes, and as many tokens of prompts as they leave room
   * for.
   *
   * @param decoding decodes; whoever waits for a step is one of them
   */
  private static double fullStep(StepModel model, Workload w, Prompt prompt, double decoding) {
    return draft(w) + between(decoding, d -> model.step(prompt.filled(decodes(w, d))).seconds());
  }

  /** Linear between whole numbers of requests, and below 1 as at 1. */
  private static double between(double requests, IntToDoubleFunction seconds) {
    int below = Math.max(1, (int) requests);
    double low = seconds.applyAsDouble(below);
    double over = requests - below;
    return over <= 0 ? low : low + over * (seconds.applyAsDouble(below + 1) - low);
  }

  /**
   * Mean time to the first token of {@code r} requests that arrive at once: their prompts fill one
   * step after the other, and a first token comes with the step that has the last of its prompt.
   *
   * @param room tokens of prompts that a step has room for
   * @param added tokens of a prompt
   * @param full time of a step that has as many of them as it has room for
   * @param without time of a step that has none
   */
  private static double burst(int r, int room, int added, double full, double without) {
    int steps = (int) (((long) r * added + room - 1) / room);
    if (steps == 1) {
      return full;
    }
    // Answered before the last step, and the sum of the steps that they take.
    int before = (int) ((steps - 1L) * room / added);
    double sum = 0;
    if (added < room) {
      long last = 0;
      for (long j = 1; j < steps; j++) {
        long answered = j * room / added;
        sum += j * (answered - last);
        last = answered;
      }
    } else {
      for (long i = 1; i <= before; i++) {
        sum += (i * added + room - 1) / room;
      }
    }
    double left = ((double) r * added - (steps - 1.0) * room) / room;
    double end = (steps - 1) * full + without + left * Math.max(0, full - without);
    return (sum * full + (r - before) * end) / r;
  }

  /** Time until a request is let in, by Little's law. */
  private static double queue(Workload w, double running, double rate) {
    return (w.concurrency() - running) / rate;
  }

  /**
   * Prefill and decode on different devices. A request is prefilled, its keys and values are sent,
   * and its first token comes from its first decode step. Prefillers are M/D/1 queues; decode steps
   * wait for nothing, but what arrives faster makes their batch larger. So here, and only here, a
   * faster kernel may raise TPOT, with the throughput: if prefills wait for it most.
   */
  private static Prediction separate(StepModel model, Workload w) {
    Disaggregation pd = w.disaggregation();
    Admission in = Admission.of(model, w.perDecoder(pd.decoders()), Integer.MAX_VALUE);
    int cached = w.cachedTokens(model.engine().pageSize());
    StepTime prefill = model.prefill(1, w.inputTokens() - cached, cached);
    double p = prefill.seconds();
    double sent = pd.transferSeconds(model.engine(), w.inputTokens());

    // In flight = those being prefilled, waiting for it or on their way, and those that decode:
    // grows with the decoding ones.
    double low = 0;
    double high = in.running();
    for (int i = 0; i < 60; i++) {
      double batch = (low + high) / 2;
      if (inFlight(model, w, batch, p, sent) < w.concurrency()) {
        low = batch;
      } else {
        high = batch;
      }
    }
    // A prefiller that never rests ends it: beyond that nothing is in balance.
    double batch = Double.isInfinite(inFlight(model, w, high, p, sent)) ? low : high;
    StepTime decode = model.step(decodes(w, (int) Math.ceil(batch)));
    double t = decodeSeconds(model, w, batch);
    double rate = pd.decoders() * batch / ((gaps(w) + 1) * t);
    double waiting = Math.max(0, w.concurrency() - inFlight(model, w, batch, p, sent));
    boolean full = in.limit() != null && waiting > 0.5 && in.running() - batch < 0.5;
    // Where the decoders could run more, the rest waits for the prefillers.
    double alone = separateQueue(rate, p, w) + (full ? 0 : waiting / rate);
    First first = new First(alone + sent + t, separateBurst(p, w) + sent + t);
    double share = rate * p / pd.prefillers();
    Admission admitted =
        new Admission(w.concurrency() - (full ? (int) waiting : 0), 0, full ? in.limit() : null);
    return prediction(
        w,
        admitted,
        full ? waiting / rate : 0,
        decode,
        prefill,
        t,
        first,
        rate,
        share,
        share * others(w));
  }

  /**
   * Requests in flight if each decoder runs {@code batch}.
   *
   * @param prefill seconds of a prefill
   * @param sent seconds in which its keys and values arrive
   */
  private static double inFlight(
      StepModel model, Workload w, double batch, double prefill, double sent) {
    double decoding = w.disaggregation().decoders() * batch;
    double rate = decoding / ((gaps(w) + 1) * decodeSeconds(model, w, batch));
    return rate * (separateQueue(rate, prefill, w) + sent) + decoding;
  }

  /** A prefill and its wait for a prefiller; a request never waits for itself. */
  private static double separateQueue(double rate, double prefill, Workload w) {
    double load = rate * prefill / w.disaggregation().prefillers();
    return load >= 1 ? Double.POSITIVE_INFINITY : queued(prefill, load * others(w));
  }

  /** Share of a load that is not one's own. */
  private static double others(Workload w) {
    return (w.concurrency() - 1.0) / w.concurrency();
  }

  private static double separateBurst(double prefill, Workload w) {
    int prefillers = w.disaggregation().prefillers();
    int rounds = w.concurrency() / prefillers;
    int rest = w.concurrency() % prefillers;
    double sum = prefillers * rounds * (rounds + 1.0) / 2 + rest * (rounds + 1.0);
    return sum / w.concurrency() * prefill;
  }

  private static double decodeSeconds(StepModel model, Workload w, double batch) {
    return draft(w) + between(batch, b -> model.step(decodes(w, b)).seconds());
  }
}
