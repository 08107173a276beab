package io.musabench.results.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.results.model.BatchSpec.Request;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class RequestListTest {
  @Provide
  Arbitrary<List<Request>> requests() {
    // Few different ones, so that runs occur.
    return Arbitraries.of(new Request(1, 5), new Request(1, 6), new Request(7, 7))
        .list()
        .ofMinSize(1)
        .ofMaxSize(40);
  }

  @Property
  void itIsAListLikeAnyOther(@ForAll("requests") List<Request> plain) {
    RequestList list = RequestList.copyOf(plain);
    assertThat((List<Request>) list).isEqualTo(plain).hasSameHashCodeAs(plain);
    assertThat(plain).isEqualTo(list);
    assertThat(new ArrayList<>(list)).isEqualTo(new ArrayList<>(plain));
    assertThat(list).isEqualTo(RequestList.copyOf(new ArrayList<>(plain)));
    assertThat(list.totalQ()).isEqualTo(plain.stream().mapToLong(Request::qLen).sum());
    assertThat(list.totalKv()).isEqualTo(plain.stream().mapToLong(Request::kvLen).sum());
    BatchSpec batch = new BatchSpec(plain);
    assertThat(batch.sum(r -> r.kvLen() * 2.0)).isEqualTo(2.0 * list.totalKv());
    assertThat(batch.isUniform()).isEqualTo(plain.stream().distinct().count() == 1);
    boolean decodes = plain.stream().anyMatch(Request::isDecode);
    boolean others = plain.stream().anyMatch(r -> !r.isDecode());
    assertThat(batch.isMixed()).isEqualTo(decodes && others);
    assertThat(BatchSpec.parse(batch.toString())).isEqualTo(batch);
  }

  @Test
  void aMillionEqualRequestsAreOne() {
    BatchSpec batch = BatchSpec.decode(1_000_000, 4096);
    assertThat(batch.list().runs()).isEqualTo(1);
    assertThat(batch.totalKv()).isEqualTo(4_096_000_000L);
    assertThat(batch.requests().get(999_999)).isEqualTo(new Request(1, 4096));
    assertThatThrownBy(() -> batch.requests().get(1_000_000))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(batch)
        .isEqualTo(BatchSpec.decode(1_000_000, 4096))
        .isNotEqualTo(BatchSpec.decode(999_999, 4096));
  }
}
