#include "Pipelines.h"
#ifdef XTENSOR_HAS_SIMPLIFY
#include "Simplify/Passes.h"
#endif
#ifdef XTENSOR_HAS_AUTODIFF
#include "Autodiff/Passes.h"
#endif
#ifdef XTENSOR_HAS_TOLINALG
#include "ToLinalg/Passes.h"
#endif
#ifdef XTENSOR_HAS_GROUP
#include "Group/Passes.h"
#endif
#ifdef XTENSOR_HAS_SCHEDULE
#include "Schedule/Passes.h"
#endif
#ifdef XTENSOR_HAS_BUFFERS
#include "Buffers/Passes.h"
#endif
#ifdef XTENSOR_HAS_CPU
#include "CPU/Passes.h"
#endif

void xtensor::registerAllXTensorPasses() {
#ifdef XTENSOR_HAS_SIMPLIFY
  registerSimplifyPasses();
#endif
#ifdef XTENSOR_HAS_AUTODIFF
  registerAutodiffPasses();
#endif
#ifdef XTENSOR_HAS_TOLINALG
  registerToLinalgPasses();
#endif
#ifdef XTENSOR_HAS_GROUP
  registerGroupPasses();
#endif
#ifdef XTENSOR_HAS_SCHEDULE
  registerSchedulePasses();
#endif
#ifdef XTENSOR_HAS_BUFFERS
  registerBuffersPasses();
#endif
#ifdef XTENSOR_HAS_CPU
  registerCPUPasses();
#endif
}
